module example.com/branch-reminder

go 1.26.0
