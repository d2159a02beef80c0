import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'

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

  return { me, scopes, put, change, may, why }
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
