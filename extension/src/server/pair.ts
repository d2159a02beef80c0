import { RefusedError } from '@ui/connection/errors'
import { answer } from '@ui/connection/rest'
import type { Pair, Paired } from '@ui/protocol.gen'

import type { PairedServer } from '../kept/server'
import type { Problem } from './typed'

const ASK_EVERY = 1000
/** A server that is there answers at once. */
const PATIENCE = 10_000

export interface Pairing {
  address: string
  secret: string
  /** Somebody has to compare this code on another device. */
  waits: (code: string) => void
  signal: AbortSignal
}

/** Shows the secret of a link until the server has decided about this extension. */
export async function pair(pairing: Pairing): Promise<PairedServer | Problem> {
  const { address, secret, signal } = pairing
  let ticket: string | undefined
  for (;;) {
    let paired: Paired
    try {
      paired = await show(address, { secret, ...(ticket !== undefined && { ticket }) }, signal)
    } catch (error) {
      signal.throwIfAborted()
      return problemOf(error, address)
    }
    switch (paired.status) {
      case 'paired':
        return paired.token === undefined
          ? {
              field: 'address',
              text: `The Sayso at ${address} is too old for extensions. Update it.`,
            }
          : { address, token: paired.token }
      case 'refused':
        return {
          field: 'code',
          text: 'It was refused on the other device. Make a new link there to try again.',
        }
      case 'waiting':
        ticket ??= paired.ticket
        pairing.waits(paired.code)
    }
    await pause(ASK_EVERY, signal)
  }
}

async function show(address: string, body: Pair, signal: AbortSignal): Promise<Paired> {
  const response = await fetch(`${address}/api/pair`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    credentials: 'omit',
    signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]),
  })
  return answer<Paired>(response)
}

function problemOf(error: unknown, address: string): Problem {
  if (!(error instanceof RefusedError)) {
    return {
      field: 'address',
      text:
        `No Sayso answers at ${address}. Check that it runs there (“sayso”), and the port. ` +
        'Where it has a certificate of its own making, open the address in a tab first and accept it.',
    }
  }
  switch (error.code) {
    case 'pairing_over':
      return {
        field: 'code',
        text: 'This link was used already, or its time is over. “sayso pair” prints a new one.',
      }
    case 'too_many_attempts':
      return {
        field: 'code',
        text: `Too many wrong tries. Wait ${error.retryAfterSeconds ?? 60} seconds, then try again.`,
      }
    case 'forbidden':
      return { field: 'address', text: `The server refuses this address. ${plain(error)}` }
    case 'unauthorized':
      return {
        field: 'code',
        text: 'This code is not known there. “sayso pair” prints a new link.',
      }
    default:
      return {
        field: 'code',
        text: `The server does not take this code. ${plain(error)}`,
      }
  }
}

/** The server writes for terminals, too, where names stand between other marks. */
function plain({ message }: RefusedError): string {
  return message.replace(/`([^`]*)`/g, '“$1”')
}

function pause(duration: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, duration)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}

/** Tells the server to forget this extension. False when it could not be told. */
export async function signOut({ address, token }: PairedServer): Promise<boolean> {
  try {
    const response = await fetch(`${address}/api/sign_out`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: '{}',
      credentials: 'omit',
      signal: AbortSignal.timeout(PATIENCE),
    })
    return response.ok || response.status === 401
  } catch {
    return false
  }
}
