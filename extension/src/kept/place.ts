import { kept } from './kept'

/** Where the panel shall go: a path of the web app. */
export const wantedPlace = kept<string>('session', 'place', (value) => typeof value === 'string')
