import { post, postJson, answer } from '../connection/rest'
import type { Prove, Proven, SetPassword } from '../protocol.gen'
import { useMe } from './me'

/** Sets, changes or removes the password that risky actions ask for. */
export async function setPassword(change: SetPassword): Promise<void> {
  await postJson('/api/password', change)
  useMe().change({ password_set: change.new !== undefined })
}

/** Shows the password; for some minutes it is not asked for again. */
export async function provePassword(password: string): Promise<void> {
  const { proven_until } = await answer<Proven>(
    await post('/api/prove', { password } satisfies Prove),
  )
  useMe().change({ proven_until })
}
