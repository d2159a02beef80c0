import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build, type Plugin, type Rollup } from 'vite'

import { DOCUMENT, type Shell } from './src/service-worker/shell'

const WORKER = 'src/service-worker/worker.ts'
const PUBLIC = 'public'

/**
 * Builds the service worker into one file, `/sw.js`, with a list of the files that it keeps: the document, what
 * it loads at once, and every page. What a page loads when it needs it, such as the editor, is not among them,
 * for nothing can be edited without the server.
 */
export function serviceWorker(): Plugin {
  let root = ''
  return {
    name: 'sayso-service-worker',
    apply: 'build',
    enforce: 'post',
    configResolved(config) {
      root = config.root
    },
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        const source = await bundleWorker(root, shellOf(root, bundle))
        this.emitFile({ type: 'asset', fileName: 'sw.js', source })
      },
    },
  }
}

function shellOf(root: string, bundle: Rollup.OutputBundle): Shell {
  const document = bundle[DOCUMENT.slice(1)]
  if (document?.type !== 'asset') throw new Error('The build has no document.')
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
  const entries = chunks.filter(({ isEntry }) => isEntry)
  const pages = entries.flatMap(({ dynamicImports }) => dynamicImports)
  const loaded = new Set<string>()
  for (const name of [...entries.map(({ fileName }) => fileName), ...pages]) collect(name)

  function collect(name: string): void {
    const chunk = bundle[name]
    if (loaded.has(name) || chunk?.type !== 'chunk') return
    loaded.add(name)
    for (const style of chunk.viteMetadata?.importedCss ?? []) loaded.add(style)
    chunk.imports.forEach(collect)
  }

  const still = readdirSync(join(root, PUBLIC))
  const files = [
    DOCUMENT,
    ...still.map((name) => `/${name}`),
    ...[...loaded].map((name) => `/${name}`),
  ]
  const version = createHash('sha256')
  version.update(files.join('\n')).update(document.source)
  for (const name of still) version.update(readFileSync(join(root, PUBLIC, name)))
  return {
    version: version.digest('hex').slice(0, 16),
    files: files.sort(),
    document: createHash('sha256').update(document.source).digest('hex'),
  }
}

async function bundleWorker(root: string, shell: Shell): Promise<string> {
  const built = await build({
    root,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    define: { SHELL: JSON.stringify(shell) },
    build: {
      write: false,
      target: 'es2022',
      rollupOptions: {
        input: resolve(root, WORKER),
        output: { format: 'iife', entryFileNames: 'sw.js' },
      },
    },
  })
  const [result] = Array.isArray(built) ? built : [built]
  if (result === undefined || !('output' in result)) throw new Error('The worker was not built.')
  return result.output[0].code
}
