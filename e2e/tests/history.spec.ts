/** The record of what was decided, as a human looks it up. */
import { expect, test } from '../fixtures/test.ts'
import { bash, say, use } from '../model/script.ts'

test('a decision is found again, with its reason, and the history can be checked and exported', async ({
  app,
  model,
}) => {
  model.play({
    main: [use(bash('one', 'mkdir one')), use(bash('two', 'mkdir two')), say('Done.')],
  })
  await app.startSession({ prompt: 'Make folders' })
  await app.expectCard('Bash')
  await app.allow()
  await expect(app.card).toContainText('mkdir two')
  await app.deny('One is enough.')
  await expect(app.transcript).toContainText('Done.')

  await app.visit('/history')
  const { page } = app
  const rows = page.getByTestId('history-row')
  await expect(rows.first()).toBeVisible()
  await page.getByTestId('history-filter-search').fill('mkdir two')
  await expect(rows).toHaveCount(1)
  await expect(rows).toHaveAttribute('data-outcome', 'denied')
  await rows.click()
  const detail = page.getByTestId('history-detail')
  await expect(detail).toContainText('mkdir two')
  await expect(detail).toContainText('One is enough.')
  // On a wide screen the list stays beside it.
  await expect(rows).toBeVisible()
  await expect(rows).toBeInViewport()

  await page.getByTestId('history-export').click()
  const downloading = page.waitForEvent('download')
  await page.getByTestId('history-export-jsonl').click()
  const download = await downloading
  expect(download.suggestedFilename()).toMatch(/\.jsonl$/)

  await page.getByTestId('history-export').click()
  await page.getByTestId('history-check').click()
  await expect(page.getByTestId('history-check-result')).toHaveAttribute('data-state', 'good')
})
