/** From the worker to a page: somebody chose a notification that belongs there. */
export interface OpenMessage {
  type: 'sayso.open'
  path: string
}

export function isOpenMessage(data: unknown): data is OpenMessage {
  const message = data as Partial<OpenMessage> | null
  return message?.type === 'sayso.open' && typeof message.path === 'string'
}
