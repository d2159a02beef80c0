import { vi } from 'vitest'

import type { Rule, RuleSuggestion, TestedCall, TriedRule } from '../protocol.gen'

export const RULE = '00000000-0000-4000-8000-0000000000a1'

export function makeRule(part: Partial<Rule> = {}): Rule {
  return {
    rule_id: RULE,
    rule: 'Bash(npm test:*)',
    effect: 'allow',
    scope: { kind: 'project', path: '/srv/api' },
    uses_left: null,
    expires_at: null,
    reason: null,
    matches: [],
    matches_not: [],
    enabled: true,
    created_at: '2026-01-02T03:04:05Z',
    created_by: 'Chrome on Linux',
    hits: 0,
    last_hit_at: null,
    too_broad: null,
    ...part,
  }
}

export function makeTried(part: Partial<TriedRule> = {}): TriedRule {
  return {
    problem: null,
    too_broad: null,
    would_match: [],
    would_not_match: [],
    covers: [],
    ...part,
  }
}

export function makeSuggestion(
  kind: RuleSuggestion['kind'],
  rules: string[],
  part: Partial<RuleSuggestion> = {},
): RuleSuggestion {
  const suggested = rules.map((rule) => ({ rule, too_broad: null }))
  return { kind, rules: suggested, allows: true, ...part }
}

/** What the server answers over HTTP about rules. */
export interface RuleAnswers {
  suggestions?: RuleSuggestion[]
  tried?: (rule: string) => TriedRule | Promise<TriedRule>
  tested?: TestedCall
}

/** Answers `fetch` about rules, and collects the bodies that were posted. */
export function answerRules(answers: RuleAnswers): Record<string, unknown>[] {
  const posted: Record<string, unknown>[] = []
  vi.stubGlobal('fetch', async (address: string, init?: RequestInit) => {
    const { pathname } = new URL(address, 'http://sayso.test')
    const body = JSON.parse(String(init?.body ?? '{}')) as Record<string, unknown>
    if (init?.method === 'POST') posted.push(body)
    const found = await answer(answers, pathname, body)
    if (found !== undefined) return Response.json(found)
    const missing = { code: 'not_found', message: 'There is nothing at this address.' }
    return Response.json(missing, { status: 404 })
  })
  return posted
}

function answer(answers: RuleAnswers, path: string, body: Record<string, unknown>): unknown {
  const { suggestions, tried = () => makeTried(), tested } = answers
  if (path === '/api/rules/try') return tried(String(body.rule))
  if (path === '/api/rules/test') return tested
  return suggestions === undefined ? undefined : { suggestions }
}
