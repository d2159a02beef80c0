import { violations } from '../fixtures/axe.ts'
import { fileExists } from '../fixtures/files.ts'
import { expect, test } from '../fixtures/test.ts'

const SCREENS = [
  { name: 'desktop, light', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { name: 'desktop, dark', colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  { name: 'phone, light', colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { name: 'phone, dark', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const

for (const { name, colorScheme, viewport } of SCREENS) {
  test.describe(name, () => {
    test.use({
      command: 'demo',
      colorScheme,
      viewport,
      contextOptions: { reducedMotion: 'reduce' },
    })

    test('a newcomer gets from the demo to an approved tool call', async ({ app, folders }) => {
      await expect(app.page.getByTestId('new-session-start')).toBeVisible()
      expect.soft(await violations(app.page), 'start page').toEqual([])
      await app.startSession({ prompt: 'Show me', agent: 'demo' })

      await app.expectCard('Bash')
      expect.soft(await violations(app.page), 'command card').toEqual([])
      await expect(app.inCard('allow')).toBeInViewport()
      await app.allow()
      await app.expectCard('AskUserQuestion')
      expect(fileExists(folders, 'hello.txt')).toBe(true)
      expect.soft(await violations(app.page), 'question card').toEqual([])
      await app.inCard('answer-skip').click()

      await app.expectCard('Edit')
      await app.allow()
      await app.expectState('user_turn')
      expect.soft(await violations(app.page), 'finished session').toEqual([])
      const sideways = await app.page.evaluate(
        () => document.documentElement.scrollWidth > window.innerWidth,
      )
      expect(sideways, 'the page scrolls sideways').toBe(false)
    })
  })
}
