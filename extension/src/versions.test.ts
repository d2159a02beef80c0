import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

interface Package {
  version: string
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  permissions: string[]
  host_permissions?: string[]
}

const read = (path: string): Package =>
  JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as Package

test('what the extension shares with the web app has the same version in both', () => {
  const [own, web] = [read('../package.json'), read('../../ui/package.json')]
  for (const part of ['dependencies', 'devDependencies'] as const) {
    const shared = Object.keys(own[part]).filter((name) => name in web[part])
    expect(shared.length).toBeGreaterThan(3)
    const versions = (all: Package) => shared.map((name) => [name, all[part][name]])
    expect(versions(own)).toEqual(versions(web))
  }
})

test('the manifest asks for what the extension uses, and for no site', () => {
  const manifest = read('../public/manifest.json')
  expect(manifest.version).toBe(read('../package.json').version)
  expect(manifest.host_permissions).toBeUndefined()
  expect(manifest.permissions).toEqual([
    'activeTab',
    'alarms',
    'contextMenus',
    'notifications',
    'scripting',
    'sidePanel',
    'storage',
  ])
})
