import { expect, test } from 'vitest'

import { readWebAddress, type WebAddress } from './webAddress'

const plain = { written: null, hasUser: false, isEncrypted: true }

test.each<[string, WebAddress | null]>([
  ['https://docs.rs/axum?q=1', { ...plain, host: 'docs.rs' }],
  ['HTTPS://Docs.RS:443/', { ...plain, host: 'docs.rs' }],
  ['http://localhost:8080', { ...plain, host: 'localhost:8080', isEncrypted: false }],
  ['https://аpple.com/', { ...plain, host: 'xn--pple-43d.com', written: 'аpple.com' }],
  ['https://github.com@evil.test/', { ...plain, host: 'evil.test', hasUser: true }],
  ['https://evil.test\\@github.com/', { ...plain, host: 'evil.test' }],
  ['http://0x7f.1/', { ...plain, host: '127.0.0.1', written: '0x7f.1', isEncrypted: false }],
  ['file:///etc/passwd', null],
  ['docs.rs/axum', null],
])('%s', (text, expected) => {
  expect(readWebAddress(text)).toEqual(expected)
})
