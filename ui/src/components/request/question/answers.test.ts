import { expect, test } from 'vitest'

import {
  chooseOther,
  composeAnswers,
  isChosenList,
  isHtml,
  NOTHING_CHOSEN,
  readQuestions,
  toggleLabel,
  type Chosen,
  type Question,
} from './answers'

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
    expected === null
      ? { missing: question }
      : { notes: {}, answers: { [question.question]: expected } },
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

test('a note goes with its question, an empty one with none', () => {
  const noted = { ...toggleLabel(one, NOTHING_CHOSEN, 'A'), note: ' soon ' }
  const plain = toggleLabel(many, NOTHING_CHOSEN, 'B')
  expect(composeAnswers([one, many], [noted, plain])).toEqual({
    answers: { 'Which?': 'A', 'Which ones?': ['B'] },
    notes: { 'Which?': 'soon' },
  })
})

test.each([
  ['<div>page</div>', true],
  ['\n<!DOCTYPE html><p>', true],
  ['a < b', false],
  ['<https://example.org>', false],
  ['```html\n<div>\n```', false],
])('%j is a page: %j', (preview, expected) => {
  expect(isHtml(preview)).toBe(expected)
})

test('only what was kept by this form is taken for choices', () => {
  expect(isChosenList([NOTHING_CHOSEN])).toBe(true)
  expect(isChosenList([{ labels: 'A' }])).toBe(false)
  expect(isChosenList('A')).toBe(false)
})

test.each(['__proto__', 'constructor'])(
  'a question named %s is answered like any other',
  (name) => {
    const question = { ...one, question: name }
    const noted = { ...toggleLabel(question, NOTHING_CHOSEN, 'A'), note: 'soon' }
    expect(JSON.stringify(composeAnswers([question], [noted]))).toBe(
      `{"answers":{"${name}":"A"},"notes":{"${name}":"soon"}}`,
    )
  },
)
