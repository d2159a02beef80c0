import { expect, test } from 'vitest'

import type { Link } from '../kept/state'
import { badgeFor } from './badge'

const badge = (link: Link, waiting = 0) =>
  badgeFor({ link, waiting, name: null }, 'http://127.0.0.1:7297')

test('amber and a number mean that somebody waits, and nothing else does', () => {
  const amber = badge('connected', 3).background
  expect(badge('connected', 3)).toMatchObject({
    text: '3',
    title: 'Sayso: 3 requests wait for you.',
  })
  expect(badge('connected', 1).title).toBe('Sayso: one request waits for you.')
  expect(badge('connected')).toMatchObject({ text: '', title: 'Sayso: nothing waits.' })
  for (const link of ['unpaired', 'barred', 'offline', 'connecting'] as const) {
    expect(badge(link, 3)).not.toMatchObject({ background: amber })
    expect(badge(link, 3).text).not.toBe('3')
  }
})

test('what is wrong can be read without opening anything', () => {
  expect(badge('unpaired').title).toContain('not paired')
  expect(badge('barred').title).toContain('no longer let in at http://127.0.0.1:7297')
  expect(badge('offline').title).toContain('no connection to http://127.0.0.1:7297')
})
