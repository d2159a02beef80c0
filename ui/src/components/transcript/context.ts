import { computed, inject, provide, watch, type InjectionKey, type Ref } from 'vue'

/** What every row of a conversation may need to know about the whole of it. */
export interface TranscriptContext {
  sessionId: string
  cwd: string
  atWork: Readonly<Ref<boolean>>
  /** The calls that wait for the human. */
  waiting: Readonly<Ref<ReadonlySet<string>>>
  /** The number of the last list of to-dos: the one that counts. */
  lastTodos: Readonly<Ref<number>>
  /** The call that somebody wants to see, for a moment. */
  revealed: Readonly<Ref<string | null>>
  /** Brings a call into view, wherever it is folded away. */
  reveal: (toolUseId: string) => Promise<void>
}

const KEY: InjectionKey<TranscriptContext> = Symbol('transcript')

const ALONE: TranscriptContext = {
  sessionId: '',
  cwd: '',
  atWork: computed(() => false),
  waiting: computed(() => new Set<string>()),
  lastTodos: computed(() => 0),
  revealed: computed(() => null),
  reveal: () => Promise.resolve(),
}

export function provideTranscriptContext(context: TranscriptContext): void {
  provide(KEY, context)
}

export function useTranscriptContext(): TranscriptContext {
  return inject(KEY, ALONE)
}

/** Opens what hides a call, as soon as somebody wants to see it. */
export function useRevealed(
  holds: (toolUseId: string) => boolean,
  open: (toolUseId: string) => void,
): void {
  const { revealed } = useTranscriptContext()
  watch(
    revealed,
    (toolUseId) => {
      if (toolUseId !== null && holds(toolUseId)) open(toolUseId)
    },
    { immediate: true },
  )
}
