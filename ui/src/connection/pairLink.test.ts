import { expect, test } from 'vitest'

import { readPairLink, takePairLink } from './pairLink'

test('the secret leaves the address bar, and the rest of the address stays', () => {
  window.history.replaceState({ any: 'state' }, '', '/history?by=rule#pair=s3cr-et_&fp=AB:CD')
  expect(takePairLink(window)).toEqual({ secret: 's3cr-et_', fingerprint: 'AB:CD' })
  expect(window.location.href).toMatch(/\/history\?by=rule$/)
  expect(JSON.stringify(window.history.state)).not.toContain('s3cr')
  expect(takePairLink(window)).toBe(null)
})

test.each([
  ['#pair=abc', { secret: 'abc', fingerprint: null }],
  ['#pair=', null],
  ['#fp=AB', null],
  ['#entry-7', null],
  ['', null],
])('%s is read as %o', (hash, link) => {
  expect(readPairLink(hash)).toEqual(link)
})

test('an address without a link stays as it is', () => {
  window.history.replaceState(null, '', '/rules#rule-1')
  expect(takePairLink(window)).toBe(null)
  expect(window.location.hash).toBe('#rule-1')
})
