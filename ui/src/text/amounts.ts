/** `1 file`, `2,412 files`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

/** `512 B`, `180 KB`, `2.4 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} KB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** The bytes that a base64 text stands for. */
export function base64Bytes(base64: string): number {
  const padding = /=*$/.exec(base64)?.[0].length ?? 0
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding)
}

/** `840`, `12.4k`, `1.2M`. */
export function tokensText(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  if (tokens < 999_950) return `${(tokens / 1000).toFixed(tokens < 99_950 ? 1 : 0)}k`
  return `${(tokens / 1_000_000).toFixed(1)}M`
}
