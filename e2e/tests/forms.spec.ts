/** The forms of tools other than the shell and the editor, as the real agent asks for them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { fileText } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'
import { read, say, tool, type ToolCall, use } from '../model/script.ts'

test('each tool has a form that shows what it would do', async ({ app, model }) => {
  const calls: ToolCall[] = [
    tool('read', 'Read', { file_path: '/etc/hostname', offset: 2, limit: 3 }),
    tool('fetch', 'WebFetch', { url: 'https://exämple.org/a?b=c', prompt: 'What does it say?' }),
    tool('search', 'WebSearch', { query: 'raised hands', allowed_domains: ['example.org'] }),
  ]
  model.play({ main: [...calls.map((call) => use(call)), say('Done.')] })
  await app.startSession({ prompt: 'Look around' })

  await app.expectCard('Read')
  await expect(app.inCard('request-path')).toHaveText('/etc/hostname')
  await expect(app.card).toContainText('Lines 2 to 4')
  await app.deny('Not that file.')

  await app.expectCard('WebFetch')
  await expect(app.inCard('request-host')).toContainText('xn--exmple-cua.org')
  await expect(app.inCard('request-url')).toContainText('https://exämple.org/a?b=c')
  await expect(app.card).toContainText('What does it say?')
  await app.deny('Not that page.')

  await app.expectCard('WebSearch')
  await expect(app.inCard('request-query')).toContainText('raised hands')
  await expect(app.card).toContainText('example.org')
  await app.deny('Not now.')

  await expect(app.transcript).toContainText('Done.')
  for (const [id, text] of [
    ['read', 'Not that file.'],
    ['fetch', 'Not that page.'],
    ['search', 'Not now.'],
  ] as const) {
    expect(await model.toolResult(id)).toEqual({ text, isError: true })
  }
})

test('a cell of a notebook is compared with the one that is there', async ({
  app,
  model,
  folders,
}) => {
  const cell = { id: 'one', cell_type: 'code', source: ['print(1)\n', 'print(2)'], outputs: [] }
  const notebook = {
    cells: [{ ...cell, metadata: {}, execution_count: null }],
    metadata: { language_info: { name: 'python' } },
    nbformat: 4,
    nbformat_minor: 5,
  }
  writeFileSync(join(folders.project, 'notes.ipynb'), JSON.stringify(notebook))
  model.play({
    main: [
      use(read('read', 'notes.ipynb')),
      use(
        tool('edit', 'NotebookEdit', {
          notebook_path: '$PROJ/notes.ipynb',
          cell_id: 'one',
          new_source: 'print(1)\nprint(3)',
        }),
      ),
      say('Done.'),
    ],
  })
  await app.startSession({ prompt: 'Change the cell' })
  await app.expectCard('NotebookEdit')
  await expect(app.inCard('request-diff')).toContainText('print(2)')
  await expect(app.inCard('request-diff')).toContainText('print(3)')
  await app.allow()
  await expect(app.transcript).toContainText('Done.')
  expect(fileText(folders, 'notes.ipynb')).toContain('print(3)')
})
