import { emptyRecord } from '../../../data/records'
import { isStringList } from '../../../data/storage'
import { isRecord } from '../../tool/present'

export interface QuestionOption {
  label: string
  description: string
  preview: string | null
}

export interface Question {
  question: string
  header: string
  multiSelect: boolean
  options: QuestionOption[]
}

/** What a human has chosen so far for one question. */
export interface Chosen {
  labels: string[]
  /** Whether the row for free text is chosen, and what stands in it. */
  other: boolean
  otherText: string
  /** What the human adds to the answer, whichever it is. */
  note: string
}

export const NOTHING_CHOSEN: Chosen = { labels: [], other: false, otherText: '', note: '' }

export function isChosenList(value: unknown): value is Chosen[] {
  return Array.isArray(value) && value.every(isChosen)
}

function isChosen(value: unknown): value is Chosen {
  return (
    isRecord(value) &&
    isStringList(value.labels) &&
    typeof value.other === 'boolean' &&
    typeof value.otherText === 'string' &&
    typeof value.note === 'string'
  )
}

/** The questions of a tool input; null when it has another shape. */
export function readQuestions(input: unknown): Question[] | null {
  if (!isRecord(input) || !Array.isArray(input.questions)) return null
  const questions = input.questions.map(readQuestion)
  return questions.length > 0 && questions.every((question) => question !== null) ? questions : null
}

function readQuestion(value: unknown): Question | null {
  if (!isRecord(value) || typeof value.question !== 'string') return null
  const options = Array.isArray(value.options) ? value.options : []
  return {
    question: value.question,
    header: typeof value.header === 'string' ? value.header : '',
    multiSelect: value.multiSelect === true,
    options: options.filter(isRecord).map((option) => ({
      label: String(option.label ?? ''),
      description: typeof option.description === 'string' ? option.description : '',
      preview: typeof option.preview === 'string' ? option.preview : null,
    })),
  }
}

/** Choosing a label: replaces in a single choice, adds or takes away in a multiple one. */
export function toggleLabel(question: Question, chosen: Chosen, label: string): Chosen {
  if (!question.multiSelect) return { ...chosen, labels: [label], other: false }
  const had = chosen.labels.includes(label)
  const kept = question.options.map((option) => option.label)
  const labels = kept.filter((one) => (one === label ? !had : chosen.labels.includes(one)))
  return { ...chosen, labels }
}

/** Choosing the row for free text never wipes the labels of a multiple choice. */
export function chooseOther(question: Question, chosen: Chosen, other: boolean): Chosen {
  return { ...chosen, other, labels: question.multiSelect || !other ? chosen.labels : [] }
}

/** The answer to one question, or null while it has none. */
export function answerOf(question: Question, chosen: Chosen): string | string[] | null {
  const text = chosen.otherText.trim()
  if (chosen.other && text === '') return null
  const all = chosen.other ? [...chosen.labels, text] : chosen.labels
  if (all.length === 0) return null
  return question.multiSelect ? all : (all[0] ?? null)
}

/** All answers by question text, or the first question that has none. */
export function composeAnswers(
  questions: Question[],
  chosen: readonly Chosen[],
): Composed | { missing: Question } {
  const composed: Composed = { answers: emptyRecord(), notes: emptyRecord() }
  for (const [index, question] of questions.entries()) {
    const choice = chosen[index] ?? NOTHING_CHOSEN
    const answer = answerOf(question, choice)
    if (answer === null) return { missing: question }
    composed.answers[question.question] = answer
    const note = choice.note.trim()
    if (note !== '') composed.notes[question.question] = note
  }
  return composed
}

/** By question text. */
export interface Composed {
  answers: Record<string, string | string[]>
  notes: Record<string, string>
}

/** A preview is Markdown unless it is written as a page. */
export function isHtml(preview: string): boolean {
  return /^\s*<(!doctype|html|head|body|style|div|section|main|table|svg|p|h[1-6])\b/i.test(preview)
}
