import type { ServerMessage, Welcome } from '../protocol.gen'
import { useClock } from './clock'
import { useDevices } from './devices'
import { useFeatures } from './features'
import { useMe } from './me'
import { useMessages } from './messages'
import { useQueues } from './queues'
import { useRequests } from './requests'
import { useRules } from './rules'
import { useServer } from './server'
import { useSessions } from './sessions'
import { useToasts } from './toasts'
import { useTranscripts } from './transcripts'

const unknownTypes = new Set<string>()

/** Brings one message from the server into the stores. */
export function receive(message: ServerMessage): void {
  switch (message.type) {
    case 'welcome':
      return welcomed(message)
    case 'session_state': {
      const { session } = message
      useSessions().put(session)
      if (session.state === 'dead') useTranscripts().clearLive(session.session_id)
      return
    }
    case 'session_removed':
      useSessions().remove(message.session_id)
      useRequests().removeSession(message.session_id)
      useTranscripts().remove(message.session_id)
      useQueues().remove(message.session_id)
      useFeatures().remove(message.session_id)
      useMessages().remove(message.session_id)
      return
    case 'agents':
      useServer().agents = message.agents
      return
    case 'session_features':
      return useFeatures().put(message.session_id, message)
    case 'queue':
      return useQueues().put(message.session_id, message.messages)
    case 'rules':
      return useRules().replaceAll(message.rules)
    case 'rule_used':
      return useRules().replace(message.rule)
    case 'devices':
      return useDevices().replaceAll(message)
    case 'request_opened':
      return useRequests().put(message.pending_request)
    case 'request_updated':
      return useRequests().refresh(message.pending_request)
    case 'request_closed':
      return useRequests().close(message.request_id, message.outcome)
    case 'transcript':
      return useTranscripts().receive(message.session_id, message.entries)
    case 'delta':
      return useTranscripts().receiveDelta(message)
    case 'ack':
      return
    case 'error':
      // With an id it belongs to whoever asked, who shows it in place.
      if (message.id === undefined) useToasts().show(message.message)
      return
    default:
      return ignoreUnknown(message)
  }
}

function welcomed(welcome: Welcome): void {
  useClock().synchronise(welcome.server_time)
  useServer().welcomed(welcome)
  useMe().put(welcome.me)
  useSessions().replaceAll(welcome.sessions)
  useRequests().replaceAll(welcome.pending_requests)
  useRules().replaceAll(welcome.rules)
  useTranscripts().resume()
}

/** A newer server may say more than this page knows; the page goes on without it. */
function ignoreUnknown(message: never): void {
  const { type } = message as { type: string }
  if (unknownTypes.has(type)) return
  unknownTypes.add(type)
  console.warn(`Unknown message from the server: ${type}`)
}
