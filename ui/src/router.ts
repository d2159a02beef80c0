import { createRouter, createWebHistory, type Router } from 'vue-router'

import InboxPage from './components/request/InboxPage.vue'
import NewSessionPage from './components/session/NewSessionPage.vue'
import SessionPage from './components/session/SessionPage.vue'
import SessionsPage from './components/session/SessionsPage.vue'
import SettingsPage from './components/shell/SettingsPage.vue'

export function createAppRouter(): Router {
  return createRouter({
    history: createWebHistory(),
    routes: [
      { path: '/', name: 'inbox', component: InboxPage },
      { path: '/new', name: 'new-session', component: NewSessionPage },
      { path: '/sessions', name: 'sessions', component: SessionsPage },
      {
        path: '/sessions/:sessionId',
        name: 'session',
        component: SessionPage,
        props: ({ params, query }) => ({
          sessionId: params.sessionId,
          requestId: typeof query.request === 'string' ? query.request : null,
        }),
      },
      { path: '/settings', name: 'settings', component: SettingsPage },
      { path: '/:rest(.*)*', redirect: { name: 'inbox' } },
    ],
  })
}
