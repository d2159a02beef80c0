import { expect, test } from 'vitest'

import { composeContent, readElicitation, type FormValues } from './elicitation'

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

const limited = {
  properties: {
    mail: { type: 'string', format: 'email' },
    site: { type: 'string', format: 'uri' },
    day: { type: 'string', format: 'date' },
    code: { type: 'string', minLength: 3, maxLength: 4 },
    port: { type: 'integer', minimum: 1, maximum: 9 },
    tags: { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 2 },
    size: { oneOf: [{ const: 's', title: 'Small' }, { const: 'l' }] },
  },
}

test.each([
  ['mail', 'a@b', null],
  ['mail', 'nobody', 'This must be an email address.'],
  ['site', 'https://example.org', null],
  ['site', 'example', 'This must be an address such as https://example.org.'],
  ['day', '2026-01-31', null],
  ['day', '2026-13-31', 'This must be a date such as 2026-01-31.'],
  ['code', 'äöü', null],
  ['code', 'ab', 'This must be at least 3 characters long.'],
  ['code', 'abcde', 'This must be at most 4 characters long.'],
  ['port', '0', 'This must be at least 1.'],
  ['port', '10', 'This must be at most 9.'],
  ['tags', ['a'], 'This must be at least 2 chosen.'],
  ['tags', ['a', 'c'], null],
])('%s %j: %s', (name, value, problem) => {
  const { fields } = readElicitation({ requested_schema: limited })
  const composed = composeContent(fields, { [name]: value })
  expect('problems' in composed ? composed.problems[name] : null).toBe(problem)
})

test('choices have names where the schema gives them', () => {
  const { fields } = readElicitation({ requested_schema: limited })
  const choices = fields.find(({ name }) => name === 'size')?.choices
  expect(choices).toEqual([
    { value: 's', label: 'Small' },
    { value: 'l', label: 'l' },
  ])
})

test('names that every object has are names like any other', () => {
  const properties = JSON.parse('{"__proto__": {"type": "string"}, "toString": {"type": "string"}}')
  const requested_schema = { properties, required: ['toString'] }
  const order = ['constructor', 'toString', '__proto__']
  const { fields } = readElicitation({ requested_schema, property_order: order })
  expect(fields.map(({ name }) => name)).toEqual(['toString', '__proto__'])
  expect(composeContent(fields, {})).toEqual({ problems: { toString: 'This is needed.' } })
  const values = JSON.parse('{"__proto__": "a", "toString": "b"}') as FormValues
  expect(JSON.stringify(composeContent(fields, values))).toBe(
    '{"content":{"toString":"b","__proto__":"a"}}',
  )
})
