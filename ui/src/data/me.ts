import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'

import { getJson } from '../connection/rest'
import type { Me, Scope } from '../protocol.gen'

/** Who this browser is to the server, and what it may do. The server decides; this only shows it. */
export const useMe = defineStore('me', () => {
  const me = shallowRef<Me | null>(null)
  const scopes = computed((): ReadonlySet<Scope> => new Set(me.value?.scopes))

  function put(now: Me): void {
    me.value = now
  }

  function change(part: Partial<Me>): void {
    if (me.value !== null) me.value = { ...me.value, ...part }
  }

  function may(scope: Scope): boolean {
    return scopes.value.has(scope)
  }

  /** Why something cannot be done here; null where it can. */
  function why(scope: Scope): string | null {
    return may(scope) ? null : reason(scope, may('answer'))
  }

  /** For a button that is disabled for it: seen as such, and says why. */
  function barred(scope: Scope): { title?: string; 'data-barred'?: '' } {
    const title = why(scope)
    return title === null ? {} : { title, 'data-barred': '' }
  }

  /** What others have changed since the welcome, such as the password. */
  async function refresh(): Promise<void> {
    const { me: now } = await getJson<{ me: Me }>('/api/me', {})
    put(now)
  }

  return { me, scopes, put, change, may, why, barred, refresh }
})

function reason(scope: Scope, mayAnswer: boolean): string {
  switch (scope) {
    case 'view':
    case 'answer':
      return 'This device may look, not decide.'
    case 'approve':
      return mayAnswer
        ? 'This device may answer and refuse, not allow.'
        : 'This device may look, not decide.'
    case 'rules':
      return 'This device may not have decisions remembered.'
    case 'admin':
      return 'This device may not manage devices.'
  }
}
