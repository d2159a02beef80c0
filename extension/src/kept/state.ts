import { isObject, kept } from './kept'

/** How things stand between the worker and the server. */
export type Link = 'unpaired' | 'connecting' | 'connected' | 'offline' | 'barred'

/** What the worker tells the pages. */
export interface WorkerState {
  link: Link
  /** How many requests wait for a human. */
  waiting: number
  /** What the server calls this extension. */
  name: string | null
}

export const workerState = kept<WorkerState>(
  'session',
  'state',
  (value) => isObject(value) && typeof value.link === 'string',
)
