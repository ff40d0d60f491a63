RELEASE claim
