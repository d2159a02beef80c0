import { expect, test } from 'vitest'

import { refuseMadeUpInput } from './realInput'

refuseMadeUpInput(window)

/** How many of the made-up events got through. */
function arrived(html: string, event: Event): number {
  document.body.innerHTML = html
  const target = document.querySelector('#target')
  let count = 0
  target?.addEventListener(event.type, () => count++)
  target?.dispatchEvent(event)
  return count
}

test.each([
  ['a click on Allow', '<div data-decides><button id="target"></button></div>', 'click', 0],
  [
    'a click inside of it',
    '<div data-decides><button><b id="target"></b></button></div>',
    'click',
    0,
  ],
  [
    'the begin of a long press',
    '<div data-decides><button id="target"></button></div>',
    'pointerdown',
    0,
  ],
  ['a key in the card', '<div data-decides id="target"></div>', 'keydown', 0],
  ['a click that decides nothing', '<div data-decides><i id="target"></i></div>', 'click', 1],
  ['a click elsewhere', '<button id="target"></button>', 'click', 1],
  ['a key elsewhere', '<input id="target">', 'keydown', 1],
])('%s, made up by a script', (_, html, type, expected) => {
  expect(arrived(html, new Event(type, { bubbles: true, cancelable: true }))).toBe(expected)
})
