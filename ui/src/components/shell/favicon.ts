/** More than this has no room on a tab. */
const MOST = 9

/** The tab's icon: the mark, or the number of what waits in amber. */
export function faviconFor(waiting: number): string {
  if (waiting === 0) return '/favicon.svg'
  const text = waiting > MOST ? `${MOST}+` : String(waiting)
  const size = text.length > 1 ? 19 : 24
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' +
    '<rect width="32" height="32" rx="8" fill="#f5a524"/>' +
    `<text x="16" y="16" dy=".36em" text-anchor="middle" fill="#2a1b02" font-family="system-ui,sans-serif" font-weight="800" font-size="${size}">${text}</text>` +
    '</svg>'
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}
