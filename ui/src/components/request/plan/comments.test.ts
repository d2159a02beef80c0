import { expect, test } from 'vitest'

import { renderMarkdown } from '../../../text/markdown'
import { isPlanComments, quotedComments, rejectionText, withComment } from './comments'
import { sourceBlocks } from './planBlocks'

const PLAN = `# Speed up login

First measure, then change.
It takes two days.

1. Add a cache
2. Remove the old one

\`\`\`sh
npm test

npm run bench
\`\`\`

---

Ask me anything.
`

test('every rendered block has its source', () => {
  const blocks = sourceBlocks(PLAN)
  expect(blocks).toEqual([
    '# Speed up login',
    'First measure, then change.\nIt takes two days.',
    '1. Add a cache\n2. Remove the old one',
    '```sh\nnpm test\n\nnpm run bench\n```',
    '---',
    'Ask me anything.',
  ])
  expect(renderMarkdown(PLAN)).toHaveLength(blocks.length)
})

test('the source keeps what is made visible on the page', () => {
  expect(sourceBlocks('one\u202e two\n\nthree')).toEqual(['one\u202e two', 'three'])
})

test('comments go back in the order of the plan, each below what it is about', () => {
  let comments = withComment({}, 3, ' Not on my laptop. ')
  comments = withComment(comments, 1, 'One day is enough.\n\nReally.')
  comments = withComment(comments, 2, '  ')
  const text = rejectionText(quotedComments(comments, sourceBlocks(PLAN)), ' Make it smaller. ')
  expect(text).toBe(`Comments on the plan:

> First measure, then change.
> It takes two days.

One day is enough.

Really.

> \`\`\`sh
> npm test
>
> npm run bench
> \`\`\`

Not on my laptop.

On the plan as a whole:

Make it smaller.`)
})

test.each([
  ['only a reason is sent as it is', [], ' Too long. ', 'Too long.'],
  ['nothing was said', [], '  ', ''],
  [
    'comments alone',
    [{ quote: 'Step one', text: 'No.' }],
    '',
    'Comments on the plan:\n\n> Step one\n\nNo.',
  ],
  ['a place that is gone', [{ quote: '', text: 'No.' }], '', 'Comments on the plan:\n\nNo.'],
])('%s', (_name, comments, reason, text) => {
  expect(rejectionText(comments, reason)).toBe(text)
})

test('a long block is quoted as far as it takes to find it', () => {
  const quote = Array.from({ length: 20 }, (_, index) => `${index + 1}. step`).join('\n')
  const text = rejectionText([{ quote, text: 'Fewer.' }], '')
  expect(text.split('\n').slice(8, 13)).toEqual(['> 7. step', '> 8. step', '> […]', '', 'Fewer.'])
})

test('an emptied comment is gone', () => {
  expect(withComment({ 1: 'a', 2: 'b' }, 1, ' ')).toEqual({ 2: 'b' })
})

test('something else under the name of comments is not taken for them', () => {
  expect([{ 1: 'a' }, {}, { 1: 2 }, ['a'], null].map(isPlanComments)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})
