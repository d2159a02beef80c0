/**
 * All that an agent can say, in every place where it is shown: no script runs,
 * nothing is asked for, and the reader sees what was said.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Locator, Page } from '@playwright/test'

import { ansiPieces } from '../../ui/src/text/ansi.ts'
import type { App } from '../fixtures/app.ts'
import { batches, shown, together, type Vector, VECTORS } from '../fixtures/corpus.ts'
import {
  asking,
  eliciting,
  HOSTILE_AGENT,
  lastWords,
  message,
  play,
  running,
  saying,
  thinking,
  toolResult,
  toolUse,
  turnEnded,
  writeInitialize,
} from '../fixtures/hostile.ts'
import { expect, test } from '../fixtures/test.ts'
import { foreignParts, Watch } from '../fixtures/watch.ts'

const BATCHES = batches(6)

test.use({
  agentProgram: HOSTILE_AGENT,
  config:
    '[policies]\ntool_timeout = "never"\nquestion_timeout = "never"\nplan_timeout = "never"\n',
  // So much of a long list is drawn at once.
  viewport: { width: 1280, height: 4000 },
  contextOptions: { reducedMotion: 'reduce' },
  policyRefuses: true,
})

test.setTimeout(600_000)

/** What must hold wherever an agent's words stand. */
async function expectInert(page: Page, watch: Watch, where: string): Promise<void> {
  expect.soft(await foreignParts(page), where).toEqual([])
  expect.soft(watch.problems.splice(0), where).toEqual([])
}

async function texts(locator: Locator): Promise<(string | null)[]> {
  return await locator.evaluateAll((elements) => elements.map((element) => element.textContent))
}

/**
 * Opens every row of a transcript, from the first to the last, then reads one
 * part of each and looks at all of them.
 */
async function readRows(app: App, watch: Watch, part: string): Promise<string[]> {
  const found = new Map<string, string>()
  for (const pass of ['open', 'read'] as const) {
    // While entries still arrive, the transcript goes back to its end.
    await expect(async () => {
      await app.transcript.evaluate((element) => element.scrollTo(0, 0))
      const first = app.transcript.locator('[data-testid="entry"][data-seq="1"]')
      await expect(first).toBeInViewport({ timeout: 500 })
    }).toPass()
    for (let isLast = false; !isLast;) {
      await openAll(app)
      const step = await app.transcript.evaluate((element, part) => {
        const rows = [...element.querySelectorAll<HTMLElement>('[data-testid="entry"]')]
        const read = rows.flatMap((row): [string, string][] => {
          const inside = row.querySelector(part)
          return inside === null ? [] : [[row.dataset['seq'] ?? '', inside.textContent ?? '']]
        })
        const isLast = element.scrollTop + element.clientHeight >= element.scrollHeight - 2
        return { read, isLast }
      }, part)
      for (const [seq, text] of step.read) found.set(seq, text)
      if (pass === 'read') await expectInert(app.page, watch, 'a transcript')
      isLast = step.isLast
      await app.transcript.evaluate((element) => element.scrollBy(0, element.clientHeight / 2))
    }
  }
  const inOrder = [...found].sort(([one], [other]) => Number(one) - Number(other))
  return inOrder.map(([, text]) => text)
}

test('the corpus is large and each text is there once', () => {
  expect(VECTORS.length).toBeGreaterThanOrEqual(200)
  expect(new Set(VECTORS.map(({ text }) => text)).size).toBe(VECTORS.length)
})

test('what an agent says as code', async ({ app, context, server, socket, folders }) => {
  writeInitialize(folders)
  const watch = await Watch.over(context, server.origin)
  const fence = '~'.repeat(40)
  const fenced = (text: string): string => `${fence}\n${text}\n${fence}`
  const code = await play(socket, folders, [
    ...VECTORS.map(({ text }) => saying(fenced(text))),
    turnEnded(),
  ])
  await app.visit(`/sessions/${code}`)
  await app.expectState('user_turn')
  const blocks = await readRows(app, watch, 'pre code')
  expect(blocks).toEqual(VECTORS.map(({ text }) => `${shown(text, 'prose')}\n`))
})

test('what an agent says', async ({ app, context, server, socket, folders }) => {
  writeInitialize(folders)
  const watch = await Watch.over(context, server.origin)
  const markdown = await play(socket, folders, [
    ...VECTORS.map(({ text }) => saying(text)),
    turnEnded(),
  ])
  await app.visit(`/sessions/${markdown}`)
  await app.expectState('user_turn')
  const said = await readRows(app, watch, '.markdown')
  expect(said).toHaveLength(VECTORS.length)
  const plain = (text: string): string => text.replace(/\s+/g, '')
  for (const [index, { text, name }] of VECTORS.entries()) {
    if (!isMarkdown(text))
      expect.soft(plain(said[index] ?? ''), name).toBe(plain(shown(text, 'prose')))
  }
})

test('what an agent is about to say', async ({ app, context, server, socket, folders }) => {
  writeInitialize(folders)
  const watch = await Watch.over(context, server.origin)
  const start = { type: 'message_start', message: { id: 'live', role: 'assistant', content: [] } }
  const begin = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
  const pieces = VECTORS.flatMap(({ text }) => text.toWellFormed().match(/[^]{1,7}/gu) ?? [])
  const deltas = pieces.map((text) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  }))
  const live = await play(
    socket,
    folders,
    [start, begin, ...deltas].map((event) => ({ type: 'stream_event', event })),
  )
  await app.visit(`/sessions/${live}`)
  await expect(app.page.getByTestId('live-text')).toContainText('bank.example')
  await expectInert(app.page, watch, 'streamed')
})

test('what an agent thinks and reports', async ({ app, context, server, socket, folders }) => {
  writeInitialize(folders)
  const watch = await Watch.over(context, server.origin)
  const thoughts = await play(socket, folders, [
    ...BATCHES.map((batch) => thinking(together(batch))),
    ...BATCHES.map((batch) => ({
      type: 'system',
      subtype: 'informational',
      content: together(batch),
    })),
    ...BATCHES.map((batch) => ({
      type: together(batch),
      subtype: together(batch),
      x: together(batch),
    })),
    ...BATCHES.map((batch) => message({ type: together(batch), text: together(batch) })),
    {
      type: 'system',
      subtype: 'permission_denied',
      tool_name: together(VECTORS),
      message: together(VECTORS),
    },
    {
      type: 'system',
      subtype: 'api_retry',
      attempt: 1,
      max_retries: 2,
      retry_delay_ms: 1,
      error: together(VECTORS),
    },
    { type: 'system', subtype: 'session_title_changed', title: together(VECTORS.slice(0, 20)) },
    turnEnded({ subtype: 'error_during_execution', is_error: true, errors: [together(VECTORS)] }),
  ])
  await app.visit(`/sessions/${thoughts}`)
  await app.expectState('user_turn')
  const opened = await readRows(app, watch, '.thinking .body')
  expect(opened).toEqual(BATCHES.map((batch) => shown(together(batch), 'prose')))
})

/** Whether Markdown means anything by it, so that it is not shown letter by letter. */
function isMarkdown(text: string): boolean {
  return /[&`*_\\[\]~#|]|https?:|^\s*(>|[-+] |\d+\.)|^(    |\t)|\n\s*(-|=)/m.test(text)
}

/** Opens what is drawn of a transcript and can be opened. */
async function openAll(app: App): Promise<void> {
  await app.transcript.evaluate(async (element) => {
    const closed = '[aria-expanded="false"], [data-testid="show-more"], details:not([open]) summary'
    const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
    for (let round = 0; round < 3; round++) {
      await drawn()
      for (const one of element.querySelectorAll<HTMLElement>(closed)) one.click()
    }
    await drawn()
  })
}

test('what tools write', async ({ app, context, server, socket, folders }) => {
  writeInitialize(folders)
  const watch = await Watch.over(context, server.origin)

  const outputs = await play(socket, folders, [
    ...VECTORS.flatMap(({ text }, index) => [
      toolUse(`out-${index}`, 'KillShell', { shell_id: text }),
      toolResult(`out-${index}`, text, index % 7 === 0),
    ]),
    turnEnded(),
  ])
  await app.visit(`/sessions/${outputs}`)
  await app.expectState('user_turn')
  const results = await readRows(app, watch, '.output pre')
  const written = VECTORS.map(({ text }) =>
    ansiPieces(text.toWellFormed())
      .map((piece) => shown(piece.text, 'output'))
      .join(''),
  )
  expect(results).toEqual(written)
})

test('what tools are given and what they give', async ({
  app,
  context,
  server,
  socket,
  folders,
}) => {
  writeInitialize(folders)
  const watch = await Watch.over(context, server.origin)
  // Each call has a part of the texts, and another one each time.
  const parts = batches(CALLS)
  for (let number = 0; number < 4; number++) {
    const lines = parts.flatMap((_, index) => {
      const call = toolCalls(parts[(index + number * 4) % CALLS] ?? [])[index]
      const id = `call-${number}-${index}`
      if (call === undefined) throw new Error('There are as many calls as parts.')
      const [name, input, result, structured] = call
      return [
        toolUse(id, name, input as Record<string, unknown>),
        toolResult(id, result, index % 5 === 4, structured),
      ]
    })
    const session = await play(socket, folders, [...lines, turnEnded()])
    await app.visit(`/sessions/${session}`)
    await app.expectState('user_turn')
    const [command] = await readRows(app, watch, 'pre[aria-label="Command"]')
    expect.soft(command).toBe(shown(together(parts[(number * 4) % CALLS] ?? [])))
  }
})

const CALLS = 17

/** A call of each tool: its name, what it is given, and what it gives. */
function toolCalls(batch: readonly Vector[]): [string, object, unknown, unknown?][] {
  const all = together(batch)
  const fields = Object.fromEntries(batch.map(({ text }) => [text, text]))
  return [
    ['Bash', { command: all, description: all }, all, { stdout: all, stderr: all }],
    ['Write', { file_path: `/x/${all}`, content: all }, all],
    ['Edit', { file_path: all, old_string: all, new_string: all.toUpperCase() }, all],
    ['MultiEdit', { file_path: all, edits: [{ old_string: all, new_string: 'x' }] }, all],
    ['NotebookEdit', { notebook_path: all, new_source: all, cell_type: all }, all],
    ['WebFetch', { url: all, prompt: all }, all],
    ['WebSearch', { query: all }, all],
    ['TodoWrite', { todos: batch.map(({ text }) => ({ content: text, status: text })) }, all],
    ['Task', { subagent_type: all, description: all, prompt: all }, all],
    ['TaskUpdate', { taskId: all, status: all }, all],
    ['Skill', { skill: all }, all],
    ['ExitPlanMode', { plan: all }, all],
    ['AskUserQuestion', questions(batch), all],
    [
      `mcp__${all}__${all}`,
      fields,
      JSON.stringify([fields, JSON.parse('{"__proto__": {"a": 1}}')]),
    ],
    [
      all,
      fields,
      [
        { type: 'text', text: all },
        { type: all, source: { media_type: all, data: all } },
      ],
    ],
    [
      'constructor',
      fields,
      [{ type: 'document', title: all, source: { media_type: all, data: all } }],
    ],
    ['__proto__', fields, [{ type: 'image', source: { media_type: 'image/svg+xml', data: all } }]],
  ]
}

function questions(batch: readonly Vector[]): Record<string, unknown> {
  return {
    questions: [
      {
        question: together(batch),
        header: together(batch.slice(0, 5)),
        multiSelect: true,
        options: batch.map(({ text }) => ({ label: text, description: text, preview: text })),
      },
    ],
  }
}

/** All that can be asked with these texts, and what the card has to show of it. */
function requests(batch: readonly Vector[]): { lines: object[]; expected: Expected }[] {
  const all = together(batch)
  const fields = Object.fromEntries(batch.map(({ text }) => [text, text]))
  const tool = (name: string, input: object, expected: Expected, more: object = {}) => ({
    lines: asking(name, input as Record<string, unknown>, more as Record<string, unknown>),
    expected,
  })
  const choices = batch.map(({ text }) => text)
  const properties = {
    ...Object.fromEntries(
      batch.map(({ text }) => [text, { type: 'string', title: text, description: text }]),
    ),
    choices: { type: 'string', enum: choices, enumNames: choices },
    several: { type: 'array', items: { type: 'string', enum: choices } },
  }
  const suggestions = [
    {
      type: 'addRules',
      behavior: 'allow',
      destination: all,
      rules: [{ toolName: all, ruleContent: all }],
    },
    { type: 'addDirectories', directories: [all], destination: 'constructor' },
  ]
  const words = { title: all, description: all, decision_reason: all, blocked_path: all }
  return [
    tool(
      'Bash',
      { command: all, description: all },
      {
        'request-command': [shown(all)],
        'request-blocked-path': [shown(all)],
        'request-description': [`The agent says: “${shown(all, 'prose')}”`],
      },
      { ...words, permission_suggestions: suggestions },
    ),
    tool(
      'Write',
      { file_path: `/x/${all}`, content: all },
      { 'request-path': [shown(`/x/${all}`)] },
    ),
    tool(
      'Edit',
      { file_path: all, old_string: all, new_string: `${all}x` },
      { 'request-path': [shown(all)] },
    ),
    tool('Read', { file_path: all }, { 'request-path': [shown(all)] }),
    tool('NotebookEdit', { notebook_path: all, cell_id: all, new_source: all }, {}),
    tool(
      'WebFetch',
      { url: `https://xss.test/${all}`, prompt: all },
      { 'request-url': [shown(`https://xss.test/${all}`)] },
    ),
    tool('WebSearch', { query: all, allowed_domains: [all] }, {}),
    tool('Skill', { skill: all, args: all }, {}),
    tool(
      'Task',
      { subagent_type: all, description: all, prompt: all },
      { 'request-prompt': [shown(all)] },
      { agent_id: all },
    ),
    tool(`mcp__${choices[0]}__${all}`, fields, { 'request-server': [shown(choices[0] ?? '')] }),
    tool(all, fields, { dt: ['Tool', ...names(batch)], dd: [shown(all), ...names(batch)] }),
    tool('AskUserQuestion', questions(batch), {
      '.label': [...batch.map(({ text }) => shown(text, 'prose')), 'Other'],
    }),
    tool('ExitPlanMode', { plan: all, planFilePath: all }, {}),
    {
      lines: [
        eliciting({
          mcp_server_name: all,
          message: all,
          mode: 'form',
          requested_schema: { type: 'object', properties, required: choices },
        }),
      ],
      expected: {
        option: ['Choose…', ...batch.map(({ text }) => shown(text))],
        '.choice': batch.map(({ text }) => shown(text)),
      },
    },
    {
      lines: [
        eliciting({
          mcp_server_name: all,
          message: all,
          mode: 'url',
          url: `javascript:xss()//${all}`,
          elicitation_id: all,
        }),
      ],
      expected: { 'request-path': [shown(`javascript:xss()//${all}`)] },
    },
    {
      lines: [
        {
          type: 'control_request',
          request_id: `other-${all.length}`,
          request: { subtype: all, x: all },
        },
      ],
      expected: {},
    },
  ]
}

/** By test id or selector: the texts of all such elements in the card. */
type Expected = Record<string, string[]>

/** An object keeps whole numbers apart; there are none in the corpus. */
function names(batch: readonly Vector[]): string[] {
  return batch.map(({ text }) => shown(text))
}

for (const [number, batch] of BATCHES.entries()) {
  test(`what an agent asks, part ${number + 1}`, async ({
    app,
    context,
    server,
    socket,
    folders,
  }) => {
    writeInitialize(folders)
    const watch = await Watch.over(context, server.origin)
    const asked = requests(batch)
    const session = await play(
      socket,
      folders,
      asked.flatMap(({ lines }) => lines as Record<string, unknown>[]),
    )
    await socket.next(
      'request_opened',
      () =>
        socket.received.filter(({ type }) => type === 'request_opened').length >= asked.length - 1,
    )
    await app.visit(`/sessions/${session}`)
    await expect(app.card).toBeVisible()
    const total = Number(
      /of (\d+)/.exec((await app.inCard('request-position').textContent()) ?? '')?.[1],
    )
    expect(total).toBeGreaterThanOrEqual(asked.length - 1)
    for (let position = 1; position <= total; position++) {
      await expect(app.inCard('request-position')).toHaveText(`${position} of ${total}`)
      await expect(app.card.locator('[aria-busy="true"]')).toHaveCount(0)
      const where = `card ${position}`
      for (const [part, expected] of Object.entries(asked[position - 1]?.expected ?? {})) {
        const found =
          /^[a-z-]+$/.test(part) && part.includes('-') ? app.inCard(part) : app.card.locator(part)
        expect.soft((await texts(found)).map(trim), `${where}, ${part}`).toEqual(expected.map(trim))
      }
      await expectInert(app.page, watch, where)
      const tool = await app.card.getAttribute('data-tool-name')
      if (tool === 'AskUserQuestion') {
        for (const option of await app.inCard('option').all()) {
          await option.dispatchEvent('mouseenter')
          await expectInert(app.page, watch, `${where}, previews`)
        }
      } else if (tool !== 'ExitPlanMode' && (await app.inCard('edit').count()) > 0) {
        await app.inCard('edit').click()
        await expect(app.card.locator('[aria-busy="true"]')).toHaveCount(0)
        await expectInert(app.page, watch, `${where}, edited`)
        await app.inCard('edit-cancel').click()
      }
      // What cannot be shown exactly is not remembered.
      if (tool === 'Bash' && (await app.inCard('always-allow').count()) > 0) {
        await app.inCard('always-allow').click()
        await expect(app.inCard('rule-builder').locator('[aria-busy="true"]')).toHaveCount(0)
        await expectInert(app.page, watch, `${where}, remembered`)
        await app.inCard('rule-cancel').click()
      }
      if (position < total) await app.inCard('request-next').click()
    }

    await app.visit('/')
    await expect(app.page.getByTestId('inbox-item')).toHaveCount(total)
    await expectInert(app.page, watch, 'inbox')
    const open = socket.received.flatMap((one) =>
      one.type === 'request_opened' ? [one.pending_request] : [],
    )
    for (const { request_id, input_digest } of open) {
      const decision = { behavior: 'deny' }
      const denied = await socket.request({ type: 'respond', request_id, input_digest, decision })
      expect(denied, JSON.stringify(denied)).toMatchObject({ type: 'ack' })
    }
    await app.visit('/history')
    // A page has fewer entries where they are large.
    const rows = app.page.getByTestId('history-row')
    await expect(async () => {
      const more = app.page.getByTestId('history-more')
      if ((await rows.count()) < open.length && (await more.isEnabled())) await more.click()
      expect(await rows.count()).toBeGreaterThanOrEqual(open.length)
    }).toPass()
    await expectInert(app.page, watch, 'history')
    for (let seq = 1; seq <= open.length + 1; seq++) {
      await app.visit(`/history/${seq}`)
      await expect(
        app.page.getByTestId('history-digest').or(app.page.locator('h2')).first(),
      ).toBeVisible()
      await expectInert(app.page, watch, `history ${seq}`)
    }
    await app.visit(`/sessions/${session}`)
    await openAll(app)
    await expectInert(app.page, watch, 'transcript')
  })
}

function trim(text: string | null): string {
  return (text ?? '').trim()
}

test('folders, titles, commands and models', async ({ app, context, server, socket, folders }) => {
  const commands = VECTORS.map(({ text }) => ({
    name: text,
    description: text,
    argumentHint: text,
  }))
  const models = VECTORS.map(({ text }) => ({ value: text, displayName: text, description: text }))
  writeInitialize(folders, { commands, models })
  const watch = await Watch.over(context, server.origin)
  const folderNames = VECTORS.map(({ text }) => text).filter(
    (text) => text.isWellFormed() && !/[/\0]/.test(text) && Buffer.byteLength(text) < 200,
  )
  for (const name of folderNames) {
    mkdirSync(join(folders.project, name), { recursive: true })
    writeFileSync(join(folders.project, name, name), '')
  }
  for (const name of folderNames.filter((_, index) => index % 40 === 0)) {
    const session = await play(
      socket,
      folders,
      [
        { type: 'system', subtype: 'session_title_changed', title: name },
        {
          type: 'system',
          subtype: 'init',
          model: name,
          cwd: name,
          tools: [name],
          slash_commands: [name],
          mcp_servers: [],
        },
        ...asking('Bash', { command: 'ls' }),
      ],
      { cwd: join(folders.project, name) },
    )
    await app.visit(`/sessions/${session}`)
    await expect(app.card).toBeVisible()
    await expect(app.page.getByTestId('session-title')).toHaveText(shown(name, 'prose'))
    await expectInert(app.page, watch, name)
  }
  await app.page.getByTestId('model').click()
  await expect(app.page.getByTestId('completion-option').first()).toBeVisible()
  expect(
    (await texts(app.page.getByTestId('completion-option').locator('.label'))).map(trim),
  ).toEqual(VECTORS.map(({ text }) => trim(shown(text))))
  await expectInert(app.page, watch, 'models')
  await app.page.keyboard.press('Escape')

  for (const view of ['/', '/sessions', '/rules', '/settings', '/history', '/new']) {
    await app.visit(view)
    await expectInert(app.page, watch, view)
  }
  await app.page.getByTestId('new-session-cwd').fill(`${folders.project}/`)
  await expect(app.page.getByTestId('folder-option').first()).toBeVisible()
  await expectInert(app.page, watch, 'folders')
})

test('what can be completed in a message', async ({ app, context, server, socket, folders }) => {
  const commands = VECTORS.map(({ text }) => ({
    name: text,
    description: text,
    argumentHint: text,
  }))
  writeInitialize(folders, { commands })
  const watch = await Watch.over(context, server.origin)
  for (const { text } of VECTORS) {
    if (text.isWellFormed() && !/[/\0]/.test(text) && Buffer.byteLength(text) < 200)
      writeFileSync(join(folders.project, text), '')
  }
  const session = await play(socket, folders, [turnEnded()])
  await app.visit(`/sessions/${session}`)
  await app.expectState('user_turn')
  const input = app.page.getByTestId('composer-input')
  const options = app.page.getByTestId('completion-option')
  for (const sign of ['/', '@']) {
    // A few letters that many of them have, so that the list is another one each time.
    for (const letters of ['', 's', 'x', '<', 'on']) {
      await input.fill('')
      await input.pressSequentially(`${sign}${letters}`)
      if (letters === '') await expect(options.first()).toBeVisible()
      await expectInert(app.page, watch, `completing ${sign}${letters}`)
      await app.page.keyboard.press('ArrowDown')
      await expectInert(app.page, watch, `completing ${sign}${letters}, the second`)
    }
  }
})

test('old conversations', async ({ app, context, server, folders }) => {
  writeInitialize(folders)
  const watch = await Watch.over(context, server.origin)
  const kept = join(folders.home, '.claude/projects', folders.project.replace(/[^a-z0-9]/gi, '-'))
  // As many as are listed at once.
  for (const batch of batches(Math.ceil(VECTORS.length / 50))) {
    rmSync(kept, { recursive: true, force: true })
    mkdirSync(kept, { recursive: true })
    for (const { text } of batch) {
      const said = (type: string, content: unknown) =>
        JSON.stringify({
          type,
          uuid: randomUUID(),
          parentUuid: null,
          cwd: text,
          gitBranch: text,
          timestamp: '2026-01-01T00:00:00.000Z',
          message: { role: type, id: text, model: text, content },
        })
      const lines = [said('user', `a ${text}`), said('assistant', [{ type: 'text', text }])]
      writeFileSync(join(kept, `${randomUUID()}.jsonl`), lines.join('\n'))
    }
    await app.visit('/new')
    await app.page.getByTestId('new-session-cwd').fill(folders.project)
    const listed = app.page.getByTestId('conversation')
    await app.page.getByTestId('conversations-all').click()
    await expect.poll(() => listed.count()).toBeGreaterThan(batch.length / 2)
    await expectInert(app.page, watch, 'old conversations')
    await listed.first().click()
    await expect(app.page.getByTestId('entry').first()).toBeVisible()
    await expectInert(app.page, watch, 'an old conversation')
  }
})

test('what ran without a question', async ({ app, context, server, socket, folders }) => {
  writeInitialize(folders)
  const watch = await Watch.over(context, server.origin)
  const calls = batches(80)
  const session = await play(socket, folders, [
    ...calls.flatMap((batch) => {
      const [all, name] = [together(batch), batch[0]?.text ?? '']
      return running(`mcp__${name}__${all}`, { command: all })
    }),
    turnEnded(),
  ])
  await app.visit(`/sessions/${session}`)
  await expect(app.page.getByTestId('unasked-alert')).toContainText(`${calls.length} calls`)
  await app.expectState('user_turn')
  const told = await readRows(app, watch, '[data-testid="unasked-entry"]')
  expect(told).toHaveLength(calls.length)
  await expectInert(app.page, watch, 'an alert')
  await app.visit('/')
  await expect(app.page.getByTestId('inbox-unasked').first()).toBeVisible()
  await expectInert(app.page, watch, 'an alert in the inbox')
})

test('how an agent ends', async ({ app, context, server, socket, folders }) => {
  writeInitialize(folders)
  const watch = await Watch.over(context, server.origin)
  for (const [number, batch] of BATCHES.entries()) {
    const session = await play(socket, folders, [lastWords(together(batch))])
    await app.visit(`/sessions/${session}`)
    await app.expectState('dead')
    await expect(app.page.getByTestId('session-error')).toContainText('xss')
    await openAll(app)
    await expectInert(app.page, watch, `last words ${number}`)
  }
  for (const view of ['/', '/sessions', '/history']) {
    await app.visit(view)
    await expectInert(app.page, watch, view)
  }
})

test('what a folder would run by itself', async ({ app, context, server, folders }) => {
  writeInitialize(folders)
  const watch = await Watch.over(context, server.origin)
  const well = VECTORS.filter(({ text }) => text.isWellFormed())
  const named = (value: (text: string) => unknown) =>
    Object.fromEntries(well.map(({ text }) => [text, value(text)]))
  const settings = {
    ...named((text) => text),
    env: named((text) => text),
    apiKeyHelper: together(well),
    hooks: named((command) => [{ matcher: command, hooks: [{ type: 'command', command }] }]),
    permissions: { allow: well.map(({ text }) => text), defaultMode: together(well) },
    enabledPlugins: named(() => true),
  }
  mkdirSync(join(folders.project, '.claude'))
  writeFileSync(join(folders.project, '.claude/settings.json'), JSON.stringify(settings))
  const servers = {
    mcpServers: named((command) => ({ command, args: [command], env: { [command]: command } })),
  }
  writeFileSync(join(folders.project, '.mcp.json'), JSON.stringify(servers))
  await app.fillNewSession({ prompt: 'x' })
  await app.page.getByTestId('new-session-start').click()
  await expect(app.page.getByTestId('finding').first()).toBeVisible()
  const helpers = app.page.locator('[data-kind="helper"] [data-testid="finding"] pre')
  expect(await texts(helpers)).toEqual([shown(together(well))])
  await expectInert(app.page, watch, 'trust')
})
