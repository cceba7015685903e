package main

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// parentAtStart is the process that started this one.
func parentAtStart() int {
	var info windows.PROCESS_BASIC_INFORMATION
	err := windows.NtQueryInformationProcess(windows.CurrentProcess(), windows.ProcessBasicInformation,
		unsafe.Pointer(&info), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return noParent
	}
	return int(info.InheritedFromUniqueProcessId)
}

// awaitLoss waits until the parent is gone. It returns nil where that can't be
// told. That nobody reads shows at the next write.
func awaitLoss(_, parent int) error {
	if parent == noParent {
		return nil
	}
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE|windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(parent))
	if err != nil {
		return nil // gone before us, or not ours to look at
	}
	defer windows.CloseHandle(handle)
	if !isOlder(handle, windows.CurrentProcess()) {
		return nil // another process has its id by now
	}
	if event, err := windows.WaitForSingleObject(handle, windows.INFINITE); err != nil || event != windows.WAIT_OBJECT_0 {
		return nil
	}
	return errParentGone
}

func isOlder(a, b windows.Handle) bool {
	var created [2]windows.Filetime
	for i, handle := range []windows.Handle{a, b} {
		var exit, kernel, user windows.Filetime
		if windows.GetProcessTimes(handle, &created[i], &exit, &kernel, &user) != nil {
			return false
		}
	}
	return created[0].Nanoseconds() <= created[1].Nanoseconds()
}
