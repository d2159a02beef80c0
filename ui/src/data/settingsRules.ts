import { getText, postJson } from '../connection/rest'
import type { ReadSettings, SettingsRules } from '../protocol.gen'

const PATH = '/api/rules/settings'

/** What could be taken over from a settings file of Claude Code. Nothing is saved by it. */
export function readSettings(text: string): Promise<SettingsRules> {
  return postJson(PATH, { text } satisfies ReadSettings)
}

/** Where Sayso's rules stand as such a file: those that apply in a folder, or everywhere. */
export function settingsAddress(folder: string | null): string {
  return folder === null ? PATH : `${PATH}?${new URLSearchParams({ cwd: folder })}`
}

export function writeSettings(folder: string | null, signal: AbortSignal): Promise<string> {
  return getText(settingsAddress(folder), signal)
}
