import { RefusedError } from './errors'

/** Asks the human for the password; false when they would rather not. */
export type Prover = () => Promise<boolean>

let prover: Prover | null = null

export function proveWith(asker: Prover | null): void {
  prover = asker
}

/**
 * Does something that may want the password first: then the human is asked and
 * it is done again. Whoever does not give it gets the refusal as it was.
 */
export async function proven<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const isAboutProof = error instanceof RefusedError && error.code === 'proof_required'
      if (!isAboutProof || prover === null || !(await prover())) throw error
    }
  }
}
