import '@ui/styles/base.css'

import { applyTheme } from '@ui/components/shell/theme'
import { createApp } from 'vue'

import OptionsPage from './OptionsPage.vue'

applyTheme()
createApp(OptionsPage).mount('#app')
