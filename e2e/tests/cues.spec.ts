/** What calls the human back. */
import { expect, test } from '../fixtures/test.ts'
import { bash, say, use } from '../model/script.ts'

test('cues are off until they are switched on, and tell nothing of what the agent wrote', async ({
  app,
  model,
  context,
}) => {
  await context.grantPermissions(['notifications'])
  const page = app.page
  await page.addInitScript(() => {
    const shown: { title: string; body: string }[] = []
    class Recorded extends EventTarget {
      static permission = 'granted'
      static requestPermission = () => Promise.resolve('granted')
      constructor(title: string, options: { body?: string } = {}) {
        super()
        shown.push({ title, body: options.body ?? '' })
      }
      close(): void {}
    }
    Object.assign(window, { Notification: Recorded, shown })
    const hidden = () => Boolean((window as { isHidden?: boolean }).isHidden)
    Object.defineProperty(document, 'hidden', { get: hidden })
    const state = () => (hidden() ? 'hidden' : 'visible')
    Object.defineProperty(document, 'visibilityState', { get: state })
  })
  await app.visit('/settings')
  const sound = page.getByTestId('cue-sound')
  const notifications = page.getByTestId('cue-notifications')
  await expect(sound).toHaveAttribute('aria-checked', 'false')
  await expect(notifications).toHaveAttribute('aria-checked', 'false')
  await page.getByTestId('cue-sound-test').click()
  await notifications.click()
  await expect(notifications).toHaveAttribute('aria-checked', 'true')

  model.play({ main: [use(bash('call', 'touch secret-plan.txt')), say('Done.')] })
  await app.visit('/new')
  await app.startSession({ prompt: 'Make the file' })
  await page.evaluate(() => Object.assign(window, { isHidden: true }))
  const shown = () =>
    page.evaluate(() => (window as unknown as { shown: { title: string; body: string }[] }).shown)
  await expect.poll(async () => (await shown()).length).toBe(1)
  const text = JSON.stringify(await shown())
  expect(text).toContain('Run a command')
  expect(text).not.toContain('secret-plan')
  await expect(page).toHaveTitle(/^\(1\)/)
})
