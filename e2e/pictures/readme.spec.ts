/** Takes the picture of the README from the real thing: `cargo xtask screenshot`. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from '../fixtures/test.ts'
import { bash, say, tool, use } from '../model/script.ts'

const PICTURE = fileURLToPath(new URL('../../docs/screenshot.png', import.meta.url))
const BEFORE = "  if (user.password = input.password) {\n    return 'welcome'\n  }\n"
const AFTER =
  "  if (await verify(user.passwordHash, input.password)) {\n    return 'welcome'\n  }\n"

test.use({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 2, colorScheme: 'light' })

test('a request among finished work', async ({ app, model, folders }) => {
  const shop = join(folders.root, 'web-shop')
  const file = join(shop, 'src/login.ts')
  await mkdir(join(shop, 'src'), { recursive: true })
  await writeFile(file, `export async function login(user, input) {\n${BEFORE}}\n`)
  model.play({
    main: [
      use(tool('read', 'Read', { file_path: file })),
      {
        blocks: [
          {
            type: 'text',
            text: 'Found it: `=` assigns the password instead of comparing it. I will check it against the hash.',
          },
          tool('edit', 'Edit', { file_path: file, old_string: BEFORE, new_string: AFTER }),
        ],
      },
      use(
        bash(
          'test',
          'rm -rf node_modules\nnpm ci\nnpm test -- login',
          'Clean install, then the login tests',
        ),
      ),
      // Heard when the server ends and refuses what is open.
      say('Not tested.'),
    ],
    agents: [{ match: 'changelog', turns: [say('The changelog is up to date.')] }],
  })
  await app.startSession({ cwd: shop, prompt: 'Bring the changelog up to date' })
  await app.expectState('user_turn')
  await app.page.getByTestId('new-session').first().click()
  await app.startSession({ cwd: shop, prompt: 'Fix the failing login test' })
  await app.expectCard('Edit')
  await app.allow()
  await app.expectCard('Bash')
  // How the last one ended is said for a breath; the picture is of calm.
  await expect(app.page.getByTestId('request-outcome')).toHaveCount(0)
  await expect(app.inCard('allow')).toBeEnabled()
  await app.page.screenshot({ path: PICTURE, animations: 'disabled' })
})
