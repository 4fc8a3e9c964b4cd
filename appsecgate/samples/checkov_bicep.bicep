resource appsecgateSentinel 'Microsoft.Storage/storageAccounts@2021-02-01' = {
  name: 'madeup'
  location: 'nowhere'
  properties: {
    supportsHttpsTrafficOnly: false
  }
}
