import { expect, test } from 'vitest'

import { linkAddress, readAddress, readTyped } from './typed'

test.each([
  ['http://127.0.0.1:7297', 'http://127.0.0.1:7297'],
  ['  HTTPS://Box.Example/  ', 'https://box.example'],
  ['localhost:7297/sessions?x#y', 'http://localhost:7297'],
  ['http://user:word@127.0.0.1:7297/', 'http://127.0.0.1:7297'],
  ['[::1]:7297', 'http://[::1]:7297'],
  ['', null],
  ['http://', null],
  ['file:///etc/passwd', null],
  ['javascript:alert(1)', null],
  ['chrome-extension://abc', null],
  ['two words', null],
])('the address %s is read as %s', (text, address) => {
  expect(readAddress(text)).toBe(address)
})

test('a pasted link says where and with what, whatever the address says', () => {
  const code = ' https://box.example:7297/#pair=s3cr-et_&fp=AB:CD '
  expect(linkAddress(code)).toBe('https://box.example:7297')
  expect(readTyped({ address: 'http://elsewhere', code })).toEqual({
    address: 'https://box.example:7297',
    secret: 's3cr-et_',
  })
})

test('a code alone goes to the address', () => {
  expect(readTyped({ address: 'localhost:7297', code: 's3cr-et_' })).toEqual({
    address: 'http://localhost:7297',
    secret: 's3cr-et_',
  })
})

test.each([
  [{ address: 'http://127.0.0.1:7297', code: '' }, 'code'],
  [{ address: 'http://127.0.0.1:7297', code: 'two words' }, 'code'],
  [{ address: 'http://127.0.0.1:7297', code: 'http://127.0.0.1:7297/#fp=AB' }, 'code'],
  [{ address: 'http://127.0.0.1:7297', code: 'http://127.0.0.1:7297/' }, 'code'],
  [{ address: 'no address', code: 's3cret' }, 'address'],
  [{ address: '', code: 's3cret' }, 'address'],
])('%o names the field that is wrong', (typed, field) => {
  expect(readTyped(typed)).toMatchObject({ field, text: expect.stringMatching(/\.$/) })
})
