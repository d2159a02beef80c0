import { expect, test } from 'vitest'

import { type PushFacts, pushState } from './pushState'

const ON: PushFacts = {
  isSecure: true,
  isOwnPage: true,
  hasWorkers: true,
  hasPush: true,
  isApple: false,
  isInstalled: false,
  hasRegistration: true,
  permission: 'granted',
  isSubscribed: true,
  hasChannel: true,
}

test.each<[Partial<PushFacts>, string]>([
  [{}, 'on'],
  [{ isOwnPage: false }, 'elsewhere'],
  [{ isSecure: false, hasWorkers: false, hasPush: false }, 'insecure'],
  [{ hasPush: false }, 'missing'],
  [{ hasPush: false, isApple: true }, 'home_screen'],
  [{ hasPush: false, isApple: true, isInstalled: true }, 'missing'],
  [{ hasWorkers: false, hasRegistration: false }, 'missing'],
  [{ hasRegistration: false }, 'no_worker'],
  [{ permission: 'denied' }, 'blocked'],
  [{ isSubscribed: false, hasChannel: false, permission: 'default' }, 'off'],
  [{ hasChannel: false }, 'off'],
  [{ isSubscribed: false }, 'ended'],
])('with %o it is %s', (part, expected) => {
  expect(pushState({ ...ON, ...part })).toBe(expected)
})
