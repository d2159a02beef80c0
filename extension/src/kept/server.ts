import { isObject, kept } from './kept'

/** The server that this extension is paired with, and what lets it in there. */
export interface PairedServer {
  /** Such as `http://127.0.0.1:7297`. */
  address: string
  token: string
}

export const pairedServer = kept<PairedServer>(
  'local',
  'server',
  (value) =>
    isObject(value) && typeof value.address === 'string' && typeof value.token === 'string',
)
