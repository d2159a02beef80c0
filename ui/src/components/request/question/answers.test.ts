import { expect, test } from 'vitest'

import {
  chooseOther,
  composeAnswers,
  NOTHING_CHOSEN,
  readQuestions,
  toggleLabel,
  type Chosen,
  type Question,
} from './answers'
import { composeContent, readElicitation, type FormValues } from '../elicitation/elicitation'

const options = ['A', 'B', 'C'].map((label) => ({ label, description: '', preview: null }))
const one: Question = { question: 'Which?', header: 'One', multiSelect: false, options }
const many: Question = { question: 'Which ones?', header: 'Many', multiSelect: true, options }

type Step = (question: Question, chosen: Chosen) => Chosen
const pick =
  (label: string): Step =>
  (question, chosen) =>
    toggleLabel(question, chosen, label)
const write =
  (otherText: string): Step =>
  (question, chosen) => ({
    ...chooseOther(question, chosen, otherText !== ''),
    otherText,
  })

test.each<[string, Question, Step[], string | string[] | null]>([
  ['nothing', one, [], null],
  ['a single choice is a text', one, [pick('A')], 'A'],
  ['the last single choice counts', one, [pick('A'), pick('B')], 'B'],
  ['own words replace a single choice', one, [pick('A'), write(' mine ')], 'mine'],
  ['a label replaces own words', one, [write('mine'), pick('A')], 'A'],
  ['own words taken back leave nothing', one, [write('mine'), write('')], null],
  ['a multiple choice is a list', many, [pick('A')], ['A']],
  ['in the order of the options', many, [pick('C'), pick('A')], ['A', 'C']],
  ['taken back', many, [pick('A'), pick('B'), pick('A')], ['B']],
  [
    'own words are added to the labels',
    many,
    [pick('A'), write('mine'), pick('B')],
    ['A', 'B', 'mine'],
  ],
  ['own words alone', many, [write('mine')], ['mine']],
])('%s', (_, question, steps, expected) => {
  const chosen = steps.reduce((now, step) => step(question, now), NOTHING_CHOSEN)
  const composed = composeAnswers([question], [chosen])
  expect(composed).toEqual(
    expected === null ? { missing: question } : { answers: { [question.question]: expected } },
  )
})

test('the row for own words without words is no answer', () => {
  const chosen = chooseOther(many, toggleLabel(many, NOTHING_CHOSEN, 'A'), true)
  expect(composeAnswers([many], [chosen])).toEqual({ missing: many })
})

test('the first question without an answer is named', () => {
  const chosen = toggleLabel(one, NOTHING_CHOSEN, 'A')
  expect(composeAnswers([one, many], [chosen])).toEqual({ missing: many })
})

test.each([null, {}, { questions: [] }, { questions: ['x'] }, { questions: [{ header: 'x' }] }])(
  'the input %j is no questions',
  (input) => {
    expect(readQuestions(input)).toBeNull()
  },
)

const schema = {
  properties: {
    note: { type: 'string', description: 'Why' },
    env: { type: 'string', title: 'Environment', enum: ['a', 'b'] },
    count: { type: 'integer' },
    share: { type: 'number', default: 0.5 },
    dry: { type: 'boolean', default: true },
  },
  required: ['env', 'count'],
}
const { fields } = readElicitation({ requested_schema: schema, property_order: ['env', 'count'] })

test('fields come in the order the server wants', () => {
  expect(fields.map(({ name, kind }) => [name, kind])).toEqual([
    ['env', 'choice'],
    ['count', 'integer'],
    ['note', 'text'],
    ['share', 'number'],
    ['dry', 'boolean'],
  ])
})

test.each<[string, FormValues, ReturnType<typeof composeContent>]>([
  [
    'typed values; empty optional ones are left out',
    { env: 'a', count: '3' },
    { content: { env: 'a', count: 3, share: 0.5, dry: true } },
  ],
  [
    'every problem by field',
    { count: '1.5', share: 'x' },
    {
      problems: {
        env: 'This is needed.',
        count: 'This must be a whole number.',
        share: 'This must be a number.',
      },
    },
  ],
])('a form gives %s', (_, values, expected) => {
  expect(composeContent(fields, values)).toEqual(expected)
})
