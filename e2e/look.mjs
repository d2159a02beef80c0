import { spawn } from 'node:child_process'
import { mkdtempSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from '@playwright/test'


const home = mkdtempSync(join(tmpdir(), 'newcomer-'))
const project = join(home, 'project')
mkdirSync(project)
const server = spawn(process.argv[2], ['--listen', '127.0.0.1:7391', '--on-shutdown', 'stop'], {
  cwd: project, env: { HOME: home, PATH: process.env['PATH'] }, stdio: ['ignore', 'pipe', 'inherit'],
})
let text = ''
const link = await new Promise((resolve) => server.stdout.on('data', (data) => {
  text += data
  const found = /https?:\/\/\S+/.exec(text)
  if (found && text.includes('\n')) resolve(found[0])
}))
console.log(text)
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox','--disable-gpu'] })
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.goto(link)
  await page.waitForTimeout(2500)
  await page.screenshot({ path: '/tmp/n1.png' })
  await page.goto('http://127.0.0.1:7391/new')
  await page.waitForTimeout(1500)
  await page.getByText('Demo agent').first().click().catch(() => undefined)
  await page.screenshot({ path: '/tmp/n2.png' })
  await page.getByTestId('new-session-prompt').fill('Show me'); await page.getByRole('button', { name: /start/i }).first().click({ timeout: 5000 }).catch((e) => console.log(String(e).slice(0, 200)))
  await page.waitForTimeout(6000)
  await page.screenshot({ path: '/tmp/n3.png' })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto('http://127.0.0.1:7391/')
  await page.waitForTimeout(2500)
  await page.screenshot({ path: '/tmp/n4.png' })
  await page.goto('http://127.0.0.1:7391/settings/notifications')
  await page.waitForTimeout(2000)
  await page.screenshot({ path: '/tmp/n5.png' })
} finally {
  await browser.close()
  server.kill()
}
