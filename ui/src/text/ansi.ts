import Anser from 'anser'

/** A piece of terminal output with the names of its looks, for classes `ansi-…`. */
export interface AnsiPiece {
  text: string
  looks: string[]
}

/** Titles, links and other orders to a terminal that end with BEL or ST; none of them is text. */
const OPERATING_SYSTEM = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g
/** Orders other than colours: moving the cursor, clearing the screen, choosing a character set. */
const OTHER_ORDERS = /\u001b(?:\[[0-9;:?<=>]*[ -/]*[@-ln-~]|[()][0-9A-Za-z]|[=>78cDEHMNOZ])/g

const DECORATIONS = new Set(['bold', 'dim', 'italic', 'underline', 'strikethrough'])

/** Terminal output as pieces in which only text is left. */
export function ansiPieces(output: string): AnsiPiece[] {
  const text = overwritten(output.replace(OPERATING_SYSTEM, '').replace(OTHER_ORDERS, ''))
  if (!text.includes('\u001b')) return text === '' ? [] : [{ text, looks: [] }]
  return Anser.ansiToJson(text, { use_classes: true, remove_empty: true }).map((piece) => ({
    text: piece.content,
    looks: [
      ...colour(piece.fg, piece.fg_truecolor).map((name) => `ansi-${name}`),
      ...colour(piece.bg, piece.bg_truecolor).map((name) => `ansi-on-${name}`),
      ...piece.decorations.filter((name) => DECORATIONS.has(name)).map((name) => `ansi-${name}`),
    ],
  }))
}

/** The same without any looks. */
export function ansiText(output: string): string {
  return ansiPieces(output)
    .map((piece) => piece.text)
    .join('')
}

/** A carriage return starts the line again, as progress bars do: what was last written shows. */
function overwritten(output: string): string {
  if (!output.includes('\r')) return output
  return output
    .split('\n')
    .map((line) => {
      const shown = line.replace(/\r+$/, '')
      return shown.slice(shown.lastIndexOf('\r') + 1)
    })
    .join('\n')
}

/**
 * A program chooses among millions of colours without knowing the background
 * here, so each becomes the nearest of the few that are readable on ours.
 */
function colour(name: string | null, trueColour: string | null): string[] {
  if (name === null) return []
  if (name === 'ansi-truecolor') return nearest(numbersIn(trueColour ?? ''))
  const palette = /^ansi-palette-(\d+)$/.exec(name)
  if (palette !== null) return nearest(paletteColour(Number(palette[1])))
  return [name.replace(/^ansi-(bright-)?/, '').replace(/^(black|white)$/, 'grey')]
}

function numbersIn(text: string): number[] {
  return text.split(',').map(Number)
}

const STEPS = [0, 95, 135, 175, 215, 255]

function paletteColour(index: number): number[] {
  if (index >= 232) return Array.from({ length: 3 }, () => 8 + (index - 232) * 10)
  const cube = Math.max(0, index - 16)
  return [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) => STEPS[step] ?? 0)
}

/** By hue, in sixths of the circle that begin with red. */
const HUES = ['red', 'yellow', 'green', 'cyan', 'blue', 'magenta']

function nearest([red = 0, green = 0, blue = 0]: number[]): string[] {
  const most = Math.max(red, green, blue)
  const range = most - Math.min(red, green, blue)
  if (range < 40) return ['grey']
  let sixth = (red - green) / range + 4
  if (most === red) sixth = (green - blue) / range
  else if (most === green) sixth = (blue - red) / range + 2
  return [HUES[(Math.round(sixth) + 6) % 6] ?? 'grey']
}
