import { kept } from './kept'

/** The requests that a notification was shown for: one that was closed by hand does not come back. */
export const toldRequests = kept<string[]>('session', 'told', Array.isArray)
