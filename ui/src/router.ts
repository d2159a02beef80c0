import { createRouter, createWebHistory, type Router, type RouterHistory } from 'vue-router'

import InboxPage from './components/inbox/InboxPage.vue'
import SessionsPage from './components/session/SessionsPage.vue'

/** The largest part of the app: the start page does not wait for it. */
export const loadSessionPage = () => import('./components/session/SessionPage.vue')

export function createAppRouter(history: RouterHistory = createWebHistory()): Router {
  return createRouter({
    history,
    routes: [
      { path: '/', name: 'inbox', component: InboxPage, meta: { title: 'Inbox' } },
      {
        path: '/new',
        name: 'new-session',
        component: () => import('./components/session/NewSessionPage.vue'),
        props: ({ query }) => ({ folder: typeof query.folder === 'string' ? query.folder : '' }),
        meta: { title: 'New session' },
      },
      { path: '/sessions', name: 'sessions', component: SessionsPage, meta: { title: 'Sessions' } },
      {
        path: '/sessions/:sessionId',
        name: 'session',
        component: loadSessionPage,
        props: ({ params, query }) => ({
          sessionId: params.sessionId,
          requestId: typeof query.request === 'string' ? query.request : null,
          toolUseId: typeof query.call === 'string' ? query.call : null,
        }),
        meta: { title: 'Session' },
      },
      {
        path: '/rules',
        name: 'rules',
        component: () => import('./components/rules/RulesPage.vue'),
        meta: { title: 'Rules' },
      },
      {
        // One route for both, so that the list stays as it is while entries are opened.
        path: '/history/:seq(\\d+)?',
        name: 'history',
        component: () => import('./components/history/HistoryPage.vue'),
        props: ({ params }) => ({ seq: params.seq ? Number(params.seq) : null }),
        meta: { title: 'History' },
      },
      {
        path: '/devices',
        name: 'devices',
        component: () => import('./components/devices/DevicesPage.vue'),
        meta: { title: 'Devices' },
      },
      {
        path: '/settings',
        name: 'settings',
        component: () => import('./components/shell/SettingsPage.vue'),
        meta: { title: 'Settings' },
      },
      {
        path: '/settings/notifications',
        name: 'notifications',
        component: () => import('./components/notifications/NotificationsPage.vue'),
        meta: { title: 'Notifications' },
      },
      { path: '/:rest(.*)*', redirect: { name: 'inbox' } },
    ],
  })
}
