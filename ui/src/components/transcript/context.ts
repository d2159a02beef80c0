import { computed, inject, provide, type ComputedRef, type InjectionKey } from 'vue'

/** What every row of a conversation may need to know about the whole of it. */
export interface TranscriptContext {
  sessionId: string
  cwd: string
  atWork: ComputedRef<boolean>
  /** The calls that wait for the human. */
  waiting: ComputedRef<ReadonlySet<string>>
  /** The number of the last list of to-dos: the one that counts. */
  lastTodos: ComputedRef<number>
}

const KEY: InjectionKey<TranscriptContext> = Symbol('transcript')

const ALONE: TranscriptContext = {
  sessionId: '',
  cwd: '',
  atWork: computed(() => false),
  waiting: computed(() => new Set<string>()),
  lastTodos: computed(() => 0),
}

export function provideTranscriptContext(context: TranscriptContext): void {
  provide(KEY, context)
}

export function useTranscriptContext(): TranscriptContext {
  return inject(KEY, ALONE)
}
