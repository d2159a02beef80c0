/** Shortens a path in the middle: the root and the last parts say most. */
export function shortPath(path: string, longest = 48): string {
  if (path.length <= longest) return path
  const parts = path.split('/')
  const first = parts[0] === '' ? `/${parts[1] ?? ''}` : (parts[0] ?? '')
  let tail = parts.at(-1) ?? ''
  for (const part of parts.slice(0, -1).reverse()) {
    const longer = `${part}/${tail}`
    if (first.length + longer.length + 3 > longest) break
    tail = longer
  }
  const short = `${first}/…/${tail}`
  return short.length < path.length ? short : path
}

/** The last part: a folder's or a file's own name. */
export function baseName(path: string): string {
  return path.split('/').filter(Boolean).at(-1) ?? path
}
