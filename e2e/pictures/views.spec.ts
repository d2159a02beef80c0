/** The main views on a desktop and on a phone, light and dark: `cargo xtask screenshot`. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from '../fixtures/test.ts'
import { bash, say, use } from '../model/script.ts'

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))
const SCREENS = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
}

for (const [screen, viewport] of Object.entries(SCREENS)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test.describe(`${screen}, ${colorScheme}`, () => {
      test.use({ viewport, colorScheme, deviceScaleFactor: 2 })

      test('the main views', async ({ app, model, folders }) => {
        const scripts = { test: 'echo "12 passed"' }
        await writeFile(join(folders.project, 'package.json'), JSON.stringify({ scripts }))
        const picture = async (view: string): Promise<void> => {
          const path = `${FOLDER}${view}-${screen}-${colorScheme}.png`
          await app.page.screenshot({ path, animations: 'disabled' })
        }
        model.play({
          main: [
            {
              blocks: [
                { type: 'text', text: 'I will look at the tests first.' },
                bash('look', 'npm test -- login', 'Run the login tests'),
              ],
            },
            say(
              'All **12 tests** pass now. The cause was a missing `await`:\n\n```ts\nconst user = await find(id)\n```',
            ),
            use(bash('push', 'git push origin main', 'Push the fix')),
            // Heard when the server ends and refuses what is open.
            say('Not pushed.'),
          ],
        })
        await expect(app.page.getByTestId('new-session-start')).toBeVisible()
        await picture('new-session')
        await app.startSession({ prompt: 'Fix the failing login test' })
        await app.expectCard('Bash')
        await app.allow()
        await expect(app.transcript).toContainText('12 tests')
        await app.expectState('user_turn')
        await picture('conversation')
        await app.send('Push it')
        await app.expectCard('Bash')
        await expect(app.page.getByTestId('request-outcome')).toHaveCount(0)
        await picture('request')
        await app.visit('/')
        await expect(app.page.getByTestId('inbox-item')).toHaveCount(1)
        await picture('inbox')
      })
    })
  }
}
