/**
 * A Messages API on loopback that answers from a script, so that the real
 * agent runs without a key and does the same thing every time. It keeps every
 * request: what the model received is what the tests assert.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import {
  type Block,
  type ContentBlock,
  type MessagesRequest,
  plainText,
  type Script,
  type ScriptedTurn,
  type Turn,
} from './script.ts'
import { sendJson, sendStream, sendWhole } from './stream.ts'

export interface ToolResult {
  text: string
  isError: boolean
}

/** Words of a script that stand for folders of the test. */
export type Folders = Record<'$PROJ' | '$HOME', string>

interface Thread {
  name: string
  turns: ScriptedTurn[]
  served: number
}

const WAIT_LIMIT_MS = 30_000

export class ScriptedModel {
  readonly requests: MessagesRequest[] = []
  /** What the script did not foresee; a test must end with none. */
  readonly surprises: string[] = []
  readonly log: string[] = []
  private threads: Thread[] = []
  private readonly waiting = new Set<() => void>()
  private readonly hanging = new Set<ServerResponse>()
  private messages = 0

  private constructor(
    private readonly server: Server,
    private readonly folders: Folders,
  ) {}

  static async start(folders: Folders): Promise<ScriptedModel> {
    const server = createServer()
    const model = new ScriptedModel(server, folders)
    server.on('request', (request, response) => {
      model.handle(request, response).catch((error: unknown) => {
        model.surprises.push(`The model failed: ${String(error)}`)
        response.destroy()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return model
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** Sets the turns. Call it before the agent is asked anything. */
  play(script: Script): void {
    this.threads = [
      ...(script.agents ?? []).map((agent) => ({
        name: agent.match,
        turns: agent.turns,
        served: 0,
      })),
      { name: 'main', turns: script.main, served: 0 },
    ]
  }

  /** What the model received for a tool call, as soon as it did. */
  async toolResult(toolUseId: string): Promise<ToolResult> {
    await this.until(() => this.findResult(toolUseId) !== undefined, `a result of ${toolUseId}`)
    const block = this.findResult(toolUseId)
    return { text: plainText(block?.content), isError: block?.is_error ?? false }
  }

  /** Waits until what a human wrote has reached the model; during a turn the agent passes it on as its own note. */
  async heard(text: string): Promise<void> {
    const holds = (request: MessagesRequest): boolean =>
      request.messages.some(
        (message) => message.role !== 'assistant' && plainText(message.content).includes(text),
      )
    await this.until(() => this.requests.some(holds), `a message with «${text}»`)
  }

  /** True when the model has been told nothing yet about the tool call. */
  hasNoResult(toolUseId: string): boolean {
    return this.findResult(toolUseId) === undefined
  }

  async stop(): Promise<void> {
    for (const response of this.hanging) response.destroy()
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  private findResult(toolUseId: string): ContentBlock | undefined {
    for (const request of this.requests) {
      for (const message of request.messages) {
        if (typeof message.content === 'string') continue
        const block = message.content.find((part) => part.tool_use_id === toolUseId)
        if (block) return block
      }
    }
    return undefined
  }

  private async until(done: () => boolean, what: string): Promise<void> {
    if (done()) return
    await new Promise<void>((resolve, reject) => {
      const check = (): void => {
        if (!done()) return
        clearTimeout(limit)
        this.waiting.delete(check)
        resolve()
      }
      const limit = setTimeout(() => {
        this.waiting.delete(check)
        reject(new Error(`The model never received ${what}. It received:\n${this.log.join('\n')}`))
      }, WAIT_LIMIT_MS)
      this.waiting.add(check)
    })
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0]
    if (request.method === 'HEAD' || request.method === 'GET') {
      this.log.push(`${request.method} ${path}`)
      sendJson(response, 200, {})
      return
    }
    const body = await readJson(request)
    if (path === '/v1/messages/count_tokens') {
      sendJson(response, 200, { input_tokens: 10 })
      return
    }
    if (path !== '/v1/messages') {
      this.log.push(`${request.method} ${path} → 404`)
      sendJson(response, 404, {
        type: 'error',
        error: { type: 'not_found_error', message: 'unknown path' },
      })
      return
    }
    await this.answer(body as MessagesRequest, response)
  }

  private async answer(request: MessagesRequest, response: ServerResponse): Promise<void> {
    const turn = this.nextTurn(request)
    this.requests.push(request)
    for (const check of [...this.waiting]) check()
    if ('hang' in turn) {
      this.hanging.add(response)
      return
    }
    if ('status' in turn) {
      sendJson(response, turn.status, { type: 'error', error: turn.error }, turn.headers)
      return
    }
    this.messages += 1
    const id = `msg_${String(this.messages).padStart(4, '0')}`
    const blocks = this.substitute(turn.blocks)
    if (request.stream) await sendStream(response, id, request, blocks, turn.stream)
    else sendWhole(response, id, request, blocks)
  }

  private nextTurn(request: MessagesRequest): Turn {
    // Titles and summaries are asked beside the conversation, without tools.
    if ((request.tools ?? []).length === 0) {
      this.log.push(`side call to ${request.model}`)
      return { blocks: [{ type: 'text', text: 'A scripted title' }] }
    }
    const opening = plainText(request.messages.find((message) => message.role === 'user')?.content)
    const thread =
      this.threads.find(
        (candidate) => candidate.name !== 'main' && opening.includes(candidate.name),
      ) ?? this.threads.find((candidate) => candidate.name === 'main')
    const turn = thread?.turns[thread.served]
    if (!thread || turn === undefined) {
      const text = `The script has no turn ${(thread?.served ?? 0) + 1} for the thread ${thread?.name ?? 'main'}.`
      this.surprises.push(text)
      this.log.push(text)
      return { blocks: [{ type: 'text', text }] }
    }
    thread.served += 1
    this.log.push(
      `${thread.name}: turn ${thread.served} of ${thread.turns.length} to ${request.model}`,
    )
    return typeof turn === 'function' ? turn(request) : turn
  }

  private substitute(blocks: Block[]): Block[] {
    let text = JSON.stringify(blocks)
    for (const [word, folder] of Object.entries(this.folders)) {
      text = text.replaceAll(word, JSON.stringify(folder).slice(1, -1))
    }
    return JSON.parse(text) as Block[]
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}')
}
