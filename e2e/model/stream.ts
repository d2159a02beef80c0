/** Encodes a turn as the Messages API does, whole or as server-sent events. */
import type { ServerResponse } from 'node:http'

import type { Block, MessagesRequest, StreamPace } from './script.ts'

const USAGE = {
  input_tokens: 10,
  output_tokens: 5,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
}

export function sendWhole(
  response: ServerResponse,
  id: string,
  request: MessagesRequest,
  blocks: Block[],
): void {
  sendJson(response, 200, {
    ...envelope(id, request),
    content: blocks,
    stop_reason: stopReason(blocks),
    usage: USAGE,
  })
}

export async function sendStream(
  response: ServerResponse,
  id: string,
  request: MessagesRequest,
  blocks: Block[],
  pace: StreamPace | undefined,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  const event = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  }
  event('message_start', {
    message: {
      ...envelope(id, request),
      content: [],
      stop_reason: null,
      usage: { ...USAGE, output_tokens: 1 },
    },
  })
  for (const [index, block] of blocks.entries()) {
    const empty = block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} }
    event('content_block_start', { index, content_block: empty })
    const parts =
      block.type === 'text'
        ? cut(block.text, pace?.parts ?? 2)
        : cut(JSON.stringify(block.input), 2)
    for (const [position, part] of parts.entries()) {
      if (position > 0 && block.type === 'text') await pace?.next()
      const delta =
        block.type === 'text'
          ? { type: 'text_delta', text: part }
          : { type: 'input_json_delta', partial_json: part }
      event('content_block_delta', { index, delta })
    }
    event('content_block_stop', { index })
  }
  event('message_delta', {
    delta: { stop_reason: stopReason(blocks), stop_sequence: null },
    usage: { output_tokens: USAGE.output_tokens },
  })
  event('message_stop', {})
  response.end()
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

function envelope(id: string, request: MessagesRequest): object {
  return { id, type: 'message', role: 'assistant', model: request.model, stop_sequence: null }
}

function stopReason(blocks: Block[]): string {
  return blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
}

function cut(text: string, parts: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / parts))
  const cuts: string[] = []
  for (let start = 0; start < text.length; start += size) cuts.push(text.slice(start, start + size))
  return cuts
}
