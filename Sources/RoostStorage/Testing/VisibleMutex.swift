#if ROOST_SANITIZING
    import RoostFile

    typealias Mutex<Value: ~Copyable> = VisibleMutex<Value>
#endif
