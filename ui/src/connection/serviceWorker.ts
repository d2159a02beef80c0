const ADDRESS = '/sw.js'

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): ScriptUrls
}

interface ScriptUrls {
  createScriptURL(url: string): string
}

// Made at once, used or not: the content policy lets this name be taken only once, and it is ours.
const trusted = (window as { trustedTypes?: TrustedTypes }).trustedTypes
const addresses = trusted?.createPolicy('worker', { createScriptURL: () => ADDRESS })

/** Null where the browser has none: without https or localhost, and in some private windows. */
export function workers(): ServiceWorkerContainer | null {
  return (navigator.serviceWorker as ServiceWorkerContainer | undefined) ?? null
}

let registering: Promise<ServiceWorkerRegistration | null> | null = null

/** Throws when the browser does not take it, such as for a certificate that it does not trust. */
export function registerWorker(): Promise<ServiceWorkerRegistration | null> {
  registering = register()
  return registering
}

async function register(): Promise<ServiceWorkerRegistration | null> {
  // While the app is developed, Vite has no such file.
  if (!import.meta.env.PROD) return null
  const address = addresses?.createScriptURL(ADDRESS) ?? ADDRESS
  return (await workers()?.register(address, { updateViaCache: 'none' })) ?? null
}

/** The worker that shows notifications, as soon as it can; null where there is none. */
export async function activeRegistration(): Promise<ServiceWorkerRegistration | null> {
  const made = await registering?.catch(() => null)
  const registration = made ?? (await workers()?.getRegistration()) ?? null
  return registration !== null && (await becomesActive(registration)) ? registration : null
}

/** The first one has to fetch the app before it is ready; one that fails is thrown away. */
async function becomesActive(registration: ServiceWorkerRegistration): Promise<boolean> {
  if (registration.active !== null) return true
  const worker = registration.waiting ?? registration.installing
  if (worker === null) return false
  return new Promise((resolve) => {
    worker.addEventListener('statechange', () => {
      if (worker.state === 'activated' || worker.state === 'redundant') {
        resolve(worker.state === 'activated')
      }
    })
  })
}
