import { violations } from '../fixtures/axe.ts'
import { expect, test } from '../fixtures/test.ts'

const VIEWS = [
  ...['/', '/new', '/sessions', '/settings', '/rules', '/devices'],
  ...['/history', '/history/1', '/settings/notifications'],
]
const SCREENS = [
  { name: 'desktop', viewport: { width: 1440, height: 900 } },
  { name: 'phone', viewport: { width: 390, height: 844 } },
]

for (const { name, viewport } of SCREENS) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test.describe(`${name}, ${colorScheme}`, () => {
      test.use({
        command: 'demo',
        colorScheme,
        viewport,
        contextOptions: { reducedMotion: 'reduce' },
      })

      test('no view keeps anybody out', async ({ app }) => {
        const script = {
          steps: [
            { think: 'What would they want to see?' },
            {
              say: '# Heading\n\nText with `code`.\n\n```ts\nconst a = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |',
            },
            { tool: { name: 'Grep', input: { pattern: 'x' }, ask: false, result: 'a.ts:1: x' } },
            { subagent: { name: 'Helper', steps: [{ say: 'Helping.' }] } },
          ],
        }
        await app.startSession({ prompt: JSON.stringify(script), agent: 'demo' })
        await app.expectState('user_turn')
        expect.soft(await violations(app.page), 'session').toEqual([])
        await app.page.getByTestId('mode-select').click()
        await expect(app.page.getByTestId('mode-option').first()).toBeVisible()
        expect.soft(await violations(app.page), 'modes').toEqual([])
        await app.page.keyboard.press('Escape')
        await app.page.getByTestId('session-menu').click()
        await expect(app.page.getByTestId('remove-session')).toBeVisible()
        await app.page.getByTestId('remove-session').click()
        await expect(app.page.getByTestId('delete-confirm')).toBeVisible()
        expect.soft(await violations(app.page), 'deleting').toEqual([])
        await app.page.getByTestId('delete-cancel').click()
        for (const view of VIEWS) {
          await app.visit(view)
          // Pages are loaded when they are first needed.
          await expect(app.page.getByRole('heading', { level: 1 })).toBeVisible()
          expect.soft(await violations(app.page), view).toEqual([])
        }
        await app.page.keyboard.press('?')
        await expect(app.page.getByTestId('keyboard-help')).toBeVisible()
        expect.soft(await violations(app.page), 'keyboard help').toEqual([])
      })
    })
  }
}
