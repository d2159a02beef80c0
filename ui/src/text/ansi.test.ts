import { expect, test } from 'vitest'

import { ansiPieces, type AnsiPiece } from './ansi'

test.each<[string, string, AnsiPiece[]]>([
  ['plain text', 'a <b>\nc', [{ text: 'a <b>\nc', looks: [] }]],
  ['nothing', '', []],
  [
    'a colour and its end',
    '\u001b[31mno\u001b[0m yes',
    [
      { text: 'no', looks: ['ansi-red'] },
      { text: ' yes', looks: [] },
    ],
  ],
  [
    'bold, bright and a background',
    '\u001b[1;92;41mok\u001b[0m',
    [{ text: 'ok', looks: ['ansi-green', 'ansi-on-red', 'ansi-bold'] }],
  ],
  [
    'colours of the palette and true ones become the nearest',
    '\u001b[38;5;208mone\u001b[38;2;20;30;250mtwo\u001b[38;5;240mthree\u001b[0m',
    [
      { text: 'one', looks: ['ansi-yellow'] },
      { text: 'two', looks: ['ansi-blue'] },
      { text: 'three', looks: ['ansi-grey'] },
    ],
  ],
  [
    'orders to the terminal are no text',
    '\u001b[2J\u001b[1;1H\u001b[?25lhi\u001b[K',
    [{ text: 'hi', looks: [] }],
  ],
  [
    'a title and a link',
    '\u001b]0;title\u0007\u001b]8;;https://example.com\u001b\\here\u001b]8;;\u001b\\',
    [{ text: 'here', looks: [] }],
  ],
  [
    'a progress bar shows its last state',
    '10%\r50%\r100%\r\ndone',
    [{ text: '100%\ndone', looks: [] }],
  ],
])('%s', (_, output, expected) => {
  expect(ansiPieces(output)).toEqual(expected)
})
