import { onScopeDispose, ref, watch, type Ref } from 'vue'

/** After the last letter, before the server is asked. */
const PAUSE = 250

/** A field whose text is used once nobody types any more. It follows the address when that changes. */
export function useSearchText(used: () => string, use: (text: string) => void): Ref<string> {
  const text = ref(used())
  let last = text.value
  let timer: ReturnType<typeof setTimeout>

  watch(text, (now) => {
    clearTimeout(timer)
    if (now !== used()) timer = setTimeout(() => pass(now), PAUSE)
  })

  function pass(now: string): void {
    last = now
    use(now)
  }

  // What comes back from here itself must not undo letters that were typed meanwhile.
  watch(used, (now) => {
    if (now === last) return
    last = now
    clearTimeout(timer)
    text.value = now
  })
  onScopeDispose(() => clearTimeout(timer))
  return text
}
