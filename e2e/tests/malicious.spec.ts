import { MaliciousRepository } from '../fixtures/malicious.ts'
import { fileExists } from '../fixtures/files.ts'
import { TOKEN } from '../fixtures/server.ts'
import { expect, test } from '../fixtures/test.ts'
import { bash, say, use } from '../model/script.ts'

test('a malicious repository runs nothing before it is trusted', async ({
  app,
  model,
  server,
  folders,
}, testInfo) => {
  const repository = await MaliciousRepository.make(folders)
  const { spy } = repository
  try {
    // Looking at it, in every way that there is.
    const get = async (path: string) => {
      const headers = { authorization: `Bearer ${TOKEN}` }
      expect((await fetch(`${server.origin}/api/${path}`, { headers })).status).toBe(200)
    }
    const project = encodeURIComponent(folders.project)
    await get(`folders?path=${project}%2F`)
    await get(`files?cwd=${project}&query=a`)
    await get(`conversations?cwd=${project}`)
    await app.fillNewSession({ prompt: 'Hello' })
    await app.page.getByTestId('new-session-start').click()
    const findings = app.page.getByTestId('finding')
    await expect(findings.first()).toBeVisible()
    await app.page.screenshot({ path: testInfo.outputPath('trust.png') })
    const listed = (await findings.allInnerTexts()).join('\n')
    for (const item of [
      'hook-SessionStart',
      'hook-UserPromptSubmit',
      'hook-PreToolUse',
      'hook-PostToolUse',
      'hook-Stop',
      'hook-SessionEnd',
      'ANTHROPIC_BASE_URL',
      spy.url,
      'BASH_ENV',
      'apiKeyHelper',
      'statusLine',
      'otelHeadersHelper',
      'bypassPermissions',
      'Bash(*)',
      'enableAllProjectMcpServers',
      'evil@market',
      './market',
      'tool-server',
      'Obey.',
      'skill-hook',
      'allowed-tools',
      '.claude/workflows/evil.js',
    ]) {
      expect(listed, `${item} is shown`).toContain(item)
    }
    expect(repository.ran(), 'before anything is started').toEqual([])

    model.play({ main: [use(bash('call', 'touch made')), say('Without.')] })
    await app.page.getByTestId('trust-without').click()
    // Neither its mode nor its rules count: a human is asked.
    await app.expectCard('Bash')
    await app.deny('No.')
    await expect(app.transcript).toContainText('Without.')
    await app.stopSession()
    await app.expectState('dead')
    expect(repository.ran(), 'without its settings').toEqual([])
    expect([spy.log, fileExists(folders, 'made')]).toEqual([[], false])

    // The traps do work: whoever trusts it falls into them.
    spy.play({ main: [use(bash('call', 'touch made')), say('Trusted.')] })
    await app.fillNewSession({ prompt: 'Hello again' })
    await app.page.getByTestId('new-session-start').click()
    await app.page.getByTestId('trust-folder-settings').click()
    await app.expectCard('Bash')
    await app.allow()
    await expect(app.transcript).toContainText('Trusted.')
    await app.stopSession()
    await app.expectState('dead')
    repository.springTraps()
    expect(fileExists(folders, 'made')).toBe(true)
    expect(repository.ran()).toEqual(
      expect.arrayContaining([
        'api-key-helper',
        'bash-env',
        'git-clean',
        'git-diff',
        'git-fsmonitor',
        'git-post-index-change',
        'git-pre-commit',
        'hook-PostToolUse',
        'hook-PreToolUse',
        'hook-SessionStart',
        'hook-Stop',
        'hook-UserPromptSubmit',
        'tool-server',
      ]),
    )
    expect(spy.requests.length, 'what it wants to hear, it hears').toBeGreaterThan(0)
  } finally {
    await spy.stop()
  }
})
