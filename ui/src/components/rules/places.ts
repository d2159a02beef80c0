import type { RuleScope } from '../../protocol.gen'

/** Everywhere or one project, as a form holds it. */
export interface RulePlace {
  kind: 'everywhere' | 'project'
  /** Kept while everywhere is chosen. */
  path: string
}

/** The scope of a place, once it is complete. */
export function scopeAt({ kind, path }: RulePlace): RuleScope | null {
  if (kind === 'everywhere') return { kind }
  return path.trim() === '' ? null : { kind, path: path.trim() }
}

/** A slash at the end makes no other folder. */
export function isSameScope(one: RuleScope, other: RuleScope): boolean {
  switch (one.kind) {
    case 'everywhere':
      return other.kind === 'everywhere'
    case 'project':
      return other.kind === 'project' && withoutSlash(one.path) === withoutSlash(other.path)
    case 'session':
      return other.kind === 'session' && one.session_id === other.session_id
  }
}

function withoutSlash(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, '') : path
}
