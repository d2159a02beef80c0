/** What calls the human back. */
import { AppWorker } from '../fixtures/push.ts'
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
    const hidden = () => Boolean((window as { isHidden?: boolean }).isHidden)
    Object.defineProperty(document, 'hidden', { get: hidden })
    const state = () => (hidden() ? 'hidden' : 'visible')
    Object.defineProperty(document, 'visibilityState', { get: state })
  })
  await app.visit('/settings/notifications')
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
  const worker = await AppWorker.of(page)
  await expect.poll(async () => (await worker.shown()).length).toBe(1)
  const text = JSON.stringify(await worker.shown())
  expect(text).toContain('Run a command')
  expect(text).not.toContain('secret-plan')
  await expect(page).toHaveTitle(/^\(1\)/)
  await page.evaluate(() => {
    Object.assign(window, { isHidden: false })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await app.allow()
  await expect.poll(() => worker.shown()).toEqual([])
})
